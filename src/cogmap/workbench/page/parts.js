// Small parts that several views are made of: bars, line charts, choices, tables.
import { html, useId } from "./vendor/preact.js";
import { niceTicks } from "./geometry.js";
import { number, percent, signed } from "./words.js";

export const LINES = 6;
const WIDE = 400;
const HIGH = 210;
const EDGES = { left: 46, right: 12, top: 10, bottom: 30 };

/** Parts of a whole, one bar a line; `was` is the value to compare with, drawn as a tick. */
export function Shares({ items, label }) {
  return html`<table class="bars" aria-label=${label}><tbody>${items.map(
    (item) => html`<tr key=${item.name} class=${item.strong ? "strong" : ""}>
      <th scope="row">${item.name}</th>
      <td><span class="track">
        <span class="bar" style=${{ width: `${100 * item.share}%` }}></span>
        ${item.was === undefined || item.was === null ? "" : html`<span class="was" style=${{ left: `${100 * item.was}%` }}></span>`}
      </span></td>
      <td class="number">${item.text ?? percent(item.share)}</td>
    </tr>`,
  )}</tbody></table>`;
}

/** Evidence: what each column adds, to the right of the middle or to its left. */
export function Evidence({ evidence, most = 12 }) {
  const parts = evidence.parts.slice(0, most);
  const rest = evidence.parts.slice(most).reduce((sum, part) => sum + part.adds, 0);
  const lines = [{ name: "start", value: "", adds: evidence.start, total: true }, ...parts];
  if (evidence.parts.length > most) lines.push({ name: `${evidence.parts.length - most} others`, value: "", adds: rest });
  lines.push({ name: "all together", value: "", adds: evidence.total, total: true });
  const largest = Math.max(...lines.map((line) => Math.abs(line.adds))) || 1;
  return html`<table class="bars evidence"><caption>Evidence for ${evidence.class}, ${evidence.unit}</caption>
    <tbody>${lines.map((line) => {
      const width = (50 * Math.abs(line.adds)) / largest;
      const kind = line.total ? "total" : line.adds < 0 ? "lowers" : "raises";
      return html`<tr key=${line.name}><th scope="row">${line.name}${line.value && html` <span class="muted">= ${line.value}</span>`}</th>
        <td><span class="track middle"><span class=${`bar ${kind}`}
          style=${{ left: `${line.adds < 0 ? 50 - width : 50}%`, width: `${width}%` }}></span></span></td>
        <td class="number">${signed(Math.abs(line.adds) < 1e-6 * largest ? 0 : line.adds)}</td></tr>`;
    })}</tbody></table>`;
}

/** Lines over numbers or steps. `lines`: name, points [x, y], kind (a class); `x` may carry texts instead of numbers. */
export function LineChart({ lines, label, texts, low, high, mark, onPick }) {
  const xs = lines.flatMap((line) => line.points.map((point) => point[0]));
  const ys = lines.flatMap((line) => line.points.map((point) => point[1])).filter((y) => y !== null);
  const ticks = niceTicks(low ?? Math.min(...ys, 0), high ?? Math.max(...ys, 0));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const across = (x) => EDGES.left + ((x - first) / (last - first || 1)) * (WIDE - EDGES.left - EDGES.right);
  const [bottom, top] = [low ?? ticks[0], high ?? ticks.at(-1)];
  const down = (y) => HIGH - EDGES.bottom - ((y - bottom) / (top - bottom || 1)) * (HIGH - EDGES.top - EDGES.bottom);
  const under = texts ?? niceTicks(first, last, 6).filter((x) => x >= first && x <= last).map((x) => [x, number(x)]);
  const path = (points) =>
    points.flatMap(([x, y], k) => (y === null ? [] : `${k ? "L" : "M"}${across(x).toFixed(1)} ${down(y).toFixed(1)}`)).join("");
  return html`<svg class="chart" viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img" aria-label=${label}>
    ${ticks.filter((y) => y >= bottom - 1e-9 && y <= top + 1e-9).map(
      (y) => html`<g key=${y}><line class="grid" x1=${EDGES.left} x2=${WIDE - EDGES.right} y1=${down(y)} y2=${down(y)} />
        <text x=${EDGES.left - 6} y=${down(y) + 4} text-anchor="end">${number(y)}</text></g>`,
    )}
    ${under.map(([x, text]) => html`<text key=${x} x=${across(x)} y=${HIGH - 10} text-anchor="middle">${text}</text>`)}
    ${mark === undefined ? "" : html`<line class="mark" x1=${across(mark)} x2=${across(mark)} y1=${EDGES.top} y2=${HIGH - EDGES.bottom} />`}
    ${lines.map((line) => html`<path key=${line.name} class=${`line ${line.kind}`} d=${path(line.points)}
      onClick=${onPick && (() => onPick(line.name))}><title>${line.name}</title></path>`)}
  </svg>`;
}

export function Sample({ kind }) {
  return html`<svg class="sample" viewBox="0 0 34 10" aria-hidden="true"><path class=${`line ${kind}`} d="M1 5H33" /></svg>`;
}

/** Buttons of which one is pressed. */
export function Choice({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>${options.map(
    ([key, text]) => html`<button type="button" key=${key} aria-pressed=${key === value ? "true" : "false"} onClick=${() => onChange(key)}>${text}</button>`,
  )}</div>`;
}

export function Select({ label, value, options, onChange, hidden = false }) {
  const id = useId();
  return html`<span class="field"><label for=${id} class=${hidden ? "unseen" : ""}>${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChange(event.currentTarget.value)}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${String(key) === String(value)}>${text}</option>`)}
    </select></span>`;
}

export function Input({ label, value, onInput, type = "text", hidden = false, ...more }) {
  const id = useId();
  return html`<span class="field"><label for=${id} class=${hidden ? "unseen" : ""}>${label}</label>
    <input id=${id} type=${type} value=${value} onInput=${(event) => onInput(event.currentTarget.value)} autocomplete="off" ...${more} /></span>`;
}

/** Text of some lines; Enter sends the form, with Shift it begins a line. */
export function Lines({ label, value, onInput, ...more }) {
  const id = useId();
  const send = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    event.currentTarget.form.requestSubmit();
  };
  return html`<span class="field"><label for=${id}>${label}</label>
    <textarea id=${id} rows="3" value=${value} onInput=${(event) => onInput(event.currentTarget.value)} onKeyDown=${send} ...${more}></textarea></span>`;
}

/** A table that scrolls within its own width; it can be scrolled with the keyboard. */
export function Scroll({ label, children, tall = false }) {
  return html`<div class=${`scroll${tall ? " tall" : ""}`} tabindex="0" role="region" aria-label=${label}>${children}</div>`;
}

export function Wait({ text = "Reading …" }) {
  return html`<p class="muted wait">${text}</p>`;
}
