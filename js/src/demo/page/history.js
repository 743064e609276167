/**
 * One client's balance over time, put together from decisions. Times are the server's milliseconds.
 *
 * A decision tells whole tokens and the time until full; with the rate that gives the fraction,
 * and between two decisions the balance is known without asking.
 */
export class History {
  /** { t, balance, limit, fullAt } in order of time; fullAt is null if it never gets full. */
  points = [];
  /** { t, balance, allowed } of the requests. */
  marks = [];
  #rate = 0;

  /**
   * @param {number} t when the decision was made
   * @param {object} decision
   * @param {{ rate: number | null, cost: number }} about the tokens per second of the limit that
   *   judged (null if unknown), and what the request cost: 0 if it was only a peek
   */
  add(t, decision, { rate, cost }) {
    const { limit, remaining, resetMs, allowed } = decision;
    const exact = resetMs === null || rate === null ? remaining : limit - (resetMs / 1000) * rate;
    const told = Math.min(Math.max(exact, remaining), remaining + 1, limit);
    this.#rate = rate ?? 0;
    const add = (balance) => {
      const fullAt = this.#rate > 0 ? t + ((limit - balance) / this.#rate) * 1000 : null;
      this.points.push({ t, balance, limit, fullAt });
    };
    if (allowed && cost > 0) add(Math.min(told + cost, limit));
    add(told);
    if (cost > 0) this.marks.push({ t, balance: told, allowed });
    // Answers to parallel requests overtake each other. Within a millisecond a balance only falls.
    const order = (one, other) => one.t - other.t || other.balance - one.balance;
    this.points.sort(order);
    this.marks.sort(order);
  }

  /** The balance at `t`, not before the last decision, if nobody else spends from it. */
  at(t) {
    const last = this.points.at(-1);
    if (!last) return null;
    if (last.fullAt !== null && t >= last.fullAt) return last.limit;
    return Math.min(last.balance + (this.#rate * Math.max(0, t - last.t)) / 1000, last.limit);
  }

  /** Milliseconds from `t` until the bucket is full; null if it never is, or nobody knows. */
  untilFull(t) {
    const { fullAt, balance, limit } = this.points.at(-1);
    if (balance >= limit) return 0;
    return fullAt === null ? null : Math.max(0, fullAt - t);
  }

  /** Forgets what lies before `t`, but for the point the line comes from. */
  trim(t) {
    const first = this.points.findIndex((point) => point.t >= t);
    if (first > 1) this.points.splice(0, first - 1);
    this.marks = this.marks.filter((mark) => mark.t >= t);
  }
}
