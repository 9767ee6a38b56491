// One control for each column of a row: a slider, a list or a date, with the places where the class would change.
import { html, useId } from "./vendor/preact.js";
import { cell, number } from "./words.js";

function Slider({ column, value, id, onChange }) {
  const { values, low, high, step } = column;
  const known = values?.length > 0;
  const place = known ? values.reduce((best, v, k) => (Math.abs(v - value) < Math.abs(values[best] - value) ? k : best), 0) : value;
  const taken = (text) => onChange(known ? values[Number(text)] : Number(text));
  const typed = (text) => text !== "" && onChange(Number(text));
  return html`<input type="range" aria-labelledby=${id} min=${known ? 0 : low} max=${known ? values.length - 1 : high} step=${known ? 1 : step ?? "any"}
      value=${place ?? (low + high) / 2} aria-valuetext=${cell(value)} onInput=${(event) => taken(event.currentTarget.value)} />
    <input type="number" aria-label=${`${column.name}, as a number`} step="any" value=${value === null ? "" : Number(Number(value).toPrecision(4))}
      placeholder="missing" onChange=${(event) => typed(event.currentTarget.value)} />`;
}

function List({ column, value, id, onChange }) {
  const options = [...column.values, ...(column.missing ? [null] : [])];
  const place = options.findIndex((one) => one === value);
  return html`<select aria-labelledby=${id} onChange=${(event) => onChange(options[Number(event.currentTarget.value)])}>
    ${place < 0 && html`<option value="-1" selected>${cell(value)}</option>`}
    ${options.map((one, k) => html`<option key=${k} value=${k} selected=${k === place}>${cell(one)}</option>`)}</select>`;
}

function Day({ column, value, id, onChange }) {
  return html`<input type="date" aria-labelledby=${id} min=${column.low?.slice(0, 10)} max=${column.high?.slice(0, 10)} value=${value?.slice(0, 10) ?? ""}
    onChange=${(event) => onChange(event.currentTarget.value || null)} />`;
}

/** Share of the slider's way at which a value lies. */
function along(column, value) {
  if (column.values?.length) return column.values.indexOf(value) / Math.max(column.values.length - 1, 1);
  return (value - column.low) / (column.high - column.low || 1);
}

function Mark({ column, change, apply }) {
  const at = Math.min(Math.max(along(column, change.changes[0].to), 0), 1);
  const text = `${column.name} ${cell(change.changes[0].to)} makes it ${change.class}`;
  return html`<span class="marks"><button type="button" class="turn" title=${text} aria-label=${text}
    style=${{ left: `calc(${at} * (100% - 16px))` }} onClick=${() => apply(change)}></button></span>`;
}

export function Control({ column, value, original, mark, onChange, apply }) {
  const id = useId();
  const changed = value !== original;
  const kind = column.kind === "number" ? Slider : column.kind === "date" ? Day : List;
  const given = { column, value, id, onChange };
  return html`<div class=${`control${changed ? " changed" : ""}`}>
    <span class="name" id=${id}>${column.name}</span>
    <span class=${`inputs ${column.kind}`}><${kind} ...${given} />
      ${mark && column.kind === "number" && html`<${Mark} column=${column} change=${mark} apply=${apply} />`}</span>
    ${column.missing && column.kind !== "category" && column.kind !== "boolean"
      ? html`<label class="check"><input type="checkbox" checked=${value === null} onChange=${(event) => onChange(event.currentTarget.checked ? null : original ?? column.typical)} />missing</label>`
      : ""}
    ${changed && html`<button type="button" class="small" aria-label=${`Set ${column.name} back to ${cell(original)}`} title=${`back to ${cell(original)}`}
      onClick=${() => onChange(original)}>↺ ${typeof original === "number" ? number(original) : cell(original)}</button>`}
  </div>`;
}
