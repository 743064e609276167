/** What `tierlimit help` prints. */

const GENERAL = `Usage: tierlimit <command> [options]

Per-client rate limits by tiers: try a policy before it is in force.

Commands:
  check FILE              say whether a policy document is valid, and where it is not
  simulate [LOG...]       replay access logs through a policy
  help [COMMAND]          explain a command

Options:
  -h, --help              this text, or that of the command
  -V, --version           the version

Exit status: 0 success, 1 the policies or the log are not as they should be, 2 the
command line is wrong or a file cannot be read or written.`;

const CHECK = `Usage: tierlimit check [options] FILE

Says whether a policy document is valid. FILE may be - for standard input.
It may have up to 64 MiB.

Each problem is one line, FILE:LINE:COLUMN: error: PATH: MESSAGE [CODE], where PATH is a
JSON Pointer and LINE and COLUMN count from 1. A tier that is not valid does not keep a
document from loading (the default policy judges its clients), but it is not what was
meant: it is a problem here too. A rate that had to be rounded is a warning only.

Options:
  --strict                refuse the document for what would be tolerated
  --json                  print one JSON object (below) instead of text
  -h, --help              this text

Exit status: 0 valid (with warnings or without), 1 with problems, 2 the command line is
wrong, FILE cannot be read or the output not be written.

JSON: format (1), file, valid, loads (false when refused whole), problems and warnings
(each path, code, message, line, column), tiers (each name, rejected, clients: how many
the document assigns).`;

const SIMULATE = `Usage: tierlimit simulate --policies FILE [options] [LOG...]

Replays access logs through a limiter and tells what it would have admitted and denied,
per tier and per client. Logs are in the Common or Combined Log Format, plain or gzipped
whatever their name; - or no LOG is standard input. Several logs are merged by time, so
rotated logs can be named in any order.

Options:
  -p, --policies FILE     the policy document, of up to 64 MiB
  --strict                refuse a document with an invalid tier, instead of judging the
                          tier's clients by the default
  --client FIELD          what stands for a client: host (the default), user or agent.
                          Lines where it is "-" or empty are left out and counted. Names
                          are taken as they stand in the log, escapes and all, one character
                          per byte; one of more than 1024 bytes makes a line unparseable.
  --assign WHO=TIER       judge a client, or all clients of a network such as
                          203.0.113.0/24 or 2001:db8::/32, by this tier. May be given
                          again; a name counts before networks, and of these the first.
  --tier TIER             judge every other client by this tier. Without it the policy
                          document's "clients" say, and its default judges the rest.
  --cost N                what each request costs, in tokens (1)
  --reorder-seconds N     see Time below (60; at most 86400)
  --max-clients N         buckets that the limiter holds at once (1000000)
  --count-clients N       clients to count for the list of the most limited (100000). When
                          there are more, the half with the fewest denials is dropped; the
                          report says so, and how many denials of a client can be missing.
                          Figures per tier are always exact.
  --top N                 how many of the most limited clients to list (10), or all
  --json                  print one JSON object (below) instead of text
  -h, --help              this text

Time: the limiter's clock is the log's. A line is written when its request ends and bears a
time in whole seconds, so lines are out of order by as long as requests take. They are put
in order: a request waits until a line has been read that is --reorder-seconds newer, and
those of the same second keep their order. A line that comes too late for its place is
judged at once, at the time reached by then, and counted as late. Not more than 100,000
requests wait; beyond that the oldest second goes first. Zone offsets are honoured.

Lines that are no log lines, or are longer than 262,144 bytes, are counted as unparseable
and the first 5 shown.

Exit status: 0 replayed, 1 the policies were refused or no line could be read, 2 the command
line is wrong, or a file cannot be read or written.

JSON: one object. Times are milliseconds since 1970 UTC.
  format                  1; a change that breaks readers raises it
  policies, logs, client, cost
                          what was asked for
  rejected, warnings      of the policies: each path, code, message, line, column
  lines                   total, blank, unparseable, withoutClient, outOfOrder (earlier than
                          a line above), maxOutOfOrderSeconds, reorderSeconds, late,
                          maxLateSeconds
  unparseable             the first: each log, line, reason, text
  firstEpochMs, lastEpochMs
                          the earliest and the latest request, or null
  requests, admitted, denied
  deniedBy                counts by the limiter's reason, such as "exhausted"
  tiers                   each tier (null: none applied), fallback (null, or why the default
                          judged: "no-tier", "unknown-tier", "invalid-tier-policy"),
                          clients (null: not known), requests, admitted, denied
  clients                 total (null: too many to know), forgotten (how often a client was
                          dropped), deniedMissedAtMost, and mostLimited: each client, tier,
                          fallback, requests, admitted, denied, exact (false: it may have
                          been dropped before, the figures are the least there were)
  limiter                 maxClients, evictions, evictedTokens: more than 0 when
                          --max-clients was too small for an exact simulation
  timeline                bucketSeconds, and buckets: each startEpochMs, admitted, denied`;

/** @type {Map<string | undefined, string>} */
export const HELP = new Map([
  [undefined, GENERAL],
  ['check', CHECK],
  ['simulate', SIMULATE],
]);
