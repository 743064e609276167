// The page: calls the API as often as it is told to, through the throttle or past it.
import { Throttle } from './throttle.js';

const response = await fetch('policies/page.json');
const throttle = new Throttle(await response.text());

const form = document.querySelector('form');
const counts = { asked: 0, answered: 0, refused: 0, failed: 0 };

function show() {
  const { asked, answered, refused, failed } = counts;
  const waiting = asked - answered - refused - failed;
  for (const [name, count] of Object.entries({ answered, refused, failed, waiting })) {
    document.querySelector(`#${name}`).textContent = count;
  }
}

async function call(held) {
  counts.asked += 1;
  show();
  const send = () => fetch('api/time');
  try {
    const { status } = await (held ? throttle.run(send) : send());
    counts[status === 429 ? 'refused' : 'answered'] += 1;
  } catch {
    counts.failed += 1;
  }
  show();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { calls, held } = form.elements;
  for (let i = 0; i < calls.valueAsNumber; i += 1) call(held.checked);
});
form.hidden = false;
