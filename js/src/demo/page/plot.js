/** Draws one client's History on a canvas: balance, capacity, and what was admitted and denied. */
import { figure } from './words.js';

const MARGIN = { top: 14, right: 14, bottom: 22, left: 44 };

/**
 * @param {HTMLCanvasElement} canvas sized by CSS; its custom properties give the colours
 * @param {import('./history.js').History} history
 * @param {{ now: number, spanMs: number }} view the right edge in the server's time, and the width
 */
export function plot(canvas, history, { now, spanMs }) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${style.fontFamily}`;

  const from = now - spanMs;
  const area = {
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
  };
  const line = outline(history, from, now);
  const top = Math.max(1, ...line.map((point) => Math.max(point.limit, point.balance)));
  const x = (t) => area.left + ((t - from) / spanMs) * (area.right - area.left);
  const y = (tokens) => area.bottom - (tokens / top) * (area.bottom - area.top);

  drawAxes();
  context.save();
  context.beginPath();
  context.rect(area.left, 0, area.right - area.left + MARGIN.right, height);
  context.clip();
  if (line.length) {
    drawCapacity();
    drawBalance();
    drawMarks();
    drawHead();
  }
  context.restore();

  function drawAxes() {
    context.strokeStyle = colour('grid');
    context.fillStyle = colour('muted');
    context.lineWidth = 1;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const tokens of [0, top / 2, top]) {
      const at = Math.round(y(tokens)) + 0.5;
      context.beginPath();
      context.moveTo(area.left, at);
      context.lineTo(area.right, at);
      context.stroke();
      context.fillText(compact(tokens), area.left - 8, at);
    }
    context.textBaseline = 'alphabetic';
    context.textAlign = 'center';
    const step = tickStep(spanMs / 1000, (area.right - area.left) / 64);
    for (let ago = 0; ago <= spanMs / 1000; ago += step) {
      const at = Math.round(x(now - ago * 1000)) + 0.5;
      context.beginPath();
      context.moveTo(at, area.bottom);
      context.lineTo(at, area.bottom + 4);
      context.stroke();
      context.textAlign = ago === 0 ? 'right' : 'center';
      context.fillText(ago === 0 ? 'now' : `−${ago} s`, ago === 0 ? area.right : at, height - 5);
    }
  }

  function drawCapacity() {
    context.strokeStyle = colour('muted');
    context.setLineDash([4, 4]);
    context.beginPath();
    line.forEach((point, index) => {
      if (index > 0) context.lineTo(x(point.t), y(line[index - 1].limit));
      context[index > 0 ? 'lineTo' : 'moveTo'](x(point.t), y(point.limit));
    });
    context.stroke();
    context.setLineDash([]);
  }

  function drawBalance() {
    context.beginPath();
    for (const point of line) context.lineTo(x(point.t), y(point.balance));
    context.strokeStyle = colour('series');
    context.lineWidth = 2;
    context.lineJoin = 'round';
    context.stroke();
    context.lineTo(x(line.at(-1).t), area.bottom);
    context.lineTo(x(line[0].t), area.bottom);
    context.globalAlpha = 0.14;
    context.fillStyle = colour('series');
    context.fill();
    context.globalAlpha = 1;
  }

  /** Admitted: a dot on the line. Denied: a cross. Told apart without their colours. */
  function drawMarks() {
    for (const { t, balance, allowed } of history.marks) {
      if (t < from) continue;
      const [cx, cy] = [x(t), y(balance)];
      context.beginPath();
      if (allowed) {
        context.arc(cx, cy, 3, 0, 2 * Math.PI);
        context.fillStyle = colour('surface');
        context.strokeStyle = colour('series');
        context.lineWidth = 1.5;
        context.fill();
      } else {
        context.moveTo(cx - 3.5, cy - 3.5);
        context.lineTo(cx + 3.5, cy + 3.5);
        context.moveTo(cx + 3.5, cy - 3.5);
        context.lineTo(cx - 3.5, cy + 3.5);
        context.strokeStyle = colour('denied');
        context.lineWidth = 2;
      }
      context.stroke();
    }
  }

  function drawHead() {
    const { t, balance } = line.at(-1);
    context.beginPath();
    context.arc(x(t), y(balance), 4, 0, 2 * Math.PI);
    context.fillStyle = colour('series');
    context.fill();
  }
}

/** The corners of the balance, also those where a bucket became full and nobody asked. */
function outline(history, from, now) {
  const { points } = history;
  const line = [];
  points.forEach((point, index) => {
    const next = points[index + 1];
    if (next && next.t < from) return;
    line.push(point);
    const until = next?.t ?? now;
    if (point.fullAt !== null && point.fullAt < until)
      line.push({ ...point, t: point.fullAt, balance: point.limit });
  });
  if (line.length && line.at(-1).t < now)
    line.push({ ...line.at(-1), t: now, balance: history.at(now) });
  return line;
}

/** Seconds between labels: the least round step that leaves at most `most` of them. */
function tickStep(seconds, most) {
  return [1, 2, 5, 10, 15, 30, 60, 120].find((step) => seconds / step <= most) ?? 300;
}

function compact(tokens) {
  return tokens < 10_000
    ? figure(tokens)
    : new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(
        tokens,
      );
}
