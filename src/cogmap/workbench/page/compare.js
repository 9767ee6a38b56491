// Before and after: what a change of the knowledge did to scores, rows, relevance, edges and effects.
import { html } from "./vendor/preact.js";
import { LineChart, Sample, Scroll, Select, Wait } from "./parts.js";
import { useAnswer } from "./store.js";
import { count, number, percent, signed } from "./words.js";

const LISTED = 12;
const SEEN = 0.001;
const SLIGHT = 0.001;

function Scores({ scores }) {
  return html`<dl class="cards">${scores.map((one) => {
    const moved = one.after - one.before;
    const verdict = one.better === null ? "equal" : one.better ? "better" : "worse";
    const slight = Math.abs(moved) < SLIGHT * Math.abs(one.before);
    return html`<div class=${`card ${slight ? "" : verdict}`} key=${one.name}><dt>${one.name}</dt>
      <dd>${number(one.after, 4)}</dd>
      <dd class="hint">${one.better === null ? "as before" : `${verdict} by ${number(Math.abs(moved), 2)}; before ${number(one.before, 4)}`}</dd></div>`;
  })}</dl>`;
}

function ChangedRows({ store, answer }) {
  const open = (row) => {
    store.row.value = row;
    store.view.value = "rows";
  };
  return html`<section><h3>${count(answer.n_changed_rows, "row")} of ${answer.n_rows.toLocaleString("en")} with another class</h3>
    ${answer.rows.length > 0 && html`<${Scroll} label="Rows whose class changes" tall><table>
      <thead><tr>${["row", "truth", "before", "after"].map((name) => html`<th scope="col" key=${name}>${name}</th>`)}<th scope="col">now</th></tr></thead>
      <tbody>${answer.rows.map((one) => {
        const verdict = one.truth === null ? "" : one.after === one.truth ? "right" : one.before === one.truth ? "wrong" : "wrong still";
        return html`<tr key=${one.row}><td><button type="button" class="link" onClick=${() => open(one.row)}>${one.row}</button></td>
          <td>${one.truth}</td><td>${one.before} <span class="muted">${percent(one.probability_before)}</span></td>
          <td>${one.after} <span class="muted">${percent(one.probability_after)}</span></td><td>${verdict}</td></tr>`;
      })}</tbody></table></${Scroll}>`}
    ${answer.rows.length < answer.n_changed_rows && html`<p class="muted">The first ${answer.rows.length} are listed.</p>`}
  </section>`;
}

function Relevance({ relevance }) {
  const listed = relevance.filter((one) => Math.abs(one.after - one.before) >= SEEN).slice(0, LISTED);
  if (!listed.length) return html`<section><h3>Relevance</h3><p>No column's share changes by ${percent(SEEN)} or more.</p></section>`;
  const largest = Math.max(...listed.flatMap((one) => [one.before, one.after])) || 1;
  const bar = (share, kind) => html`<span class=${`bar ${kind}`} style=${{ width: `${(100 * share) / largest}%` }}></span>`;
  return html`<section><h3>Relevance, largest changes first</h3>
    <table class="bars twin"><tbody>${listed.map((one) => html`<tr key=${one.name}><th scope="row">${one.name}</th>
      <td><span class="track">${bar(one.before, "before")}</span><span class="track">${bar(one.after, "after")}</span></td>
      <td class="number">${percent(one.before)} → ${percent(one.after)}</td></tr>`)}</tbody></table>
    <p class="muted"><span class="swatch before"></span> before <span class="swatch after"></span> after</p></section>`;
}

function Edges({ store, answer }) {
  const pick = ({ source, target, network }) => {
    const place = store.map.value.networks.findIndex((one) => one.name === network);
    store.network.value = place >= 0 ? place : 0;
    store.selected.value = { source, target };
    store.view.value = "map";
  };
  return html`<section><h3>${count(answer.n_changed_edges, "edge")} with another weight</h3>
    ${answer.edges.length > 0 && html`<${Scroll} label="Edges whose weight changes" tall><table>
      <thead><tr><th scope="col">edge</th><th scope="col" class="number">before</th><th scope="col" class="number">after</th></tr></thead>
      <tbody>${answer.edges.map((one, k) => html`<tr key=${k}><td><button type="button" class="link" onClick=${() => pick(one)}>${one.source} → ${one.target}</button></td>
        <td class="number">${one.before === null ? "–" : signed(one.before)}</td><td class="number">${one.after === null ? "–" : signed(one.after)}</td></tr>`)}</tbody>
    </table></${Scroll}>`}</section>`;
}

function Effect({ effect }) {
  const xs = effect.is_number && effect.values ? effect.values : effect.labels.map((_, k) => k);
  const line = (name, kind) => ({ name, kind, points: effect[name].map((p, k) => [xs[k], p]) });
  const texts = effect.is_number && effect.values ? undefined : effect.labels.map((text, k) => [k, text.slice(0, 12)]);
  return html`<figure><figcaption>${effect.name}</figcaption>
    <${LineChart} lines=${[line("after", "after"), line("before", "before")]} texts=${texts}
      label=${`Average probability of ${effect.class} by ${effect.name}, before and after`} /></figure>`;
}

function Effects({ effects }) {
  if (!effects.length) return "";
  return html`<section class="wide"><h3>Effects: average probability of ${effects[0].class}</h3>
    <p class="muted"><${Sample} kind="before" /> before <${Sample} kind="after" /> after</p>
    <div class="figures">${effects.map((effect) => html`<${Effect} key=${effect.name} effect=${effect} />`)}</div></section>`;
}

function Versions({ store, entries, answer }) {
  const options = entries.map((entry) => [entry.number, `${entry.number}. ${entry.title}`]);
  const choose = (key) => (value) => (store.compared.value = { version: answer.version, before: answer.before, ...store.compared.value, [key]: Number(value) });
  return html`<div class="tools"><${Select} label="Before" value=${answer.before} options=${options} onChange=${choose("before")} />
    <${Select} label="After" value=${answer.version} options=${options} onChange=${choose("version")} /></div>`;
}

export function Compare({ store }) {
  const answer = useAnswer(store, "compare", store.compared.value, store.stamp.value + (store.progress.value?.state ?? ""));
  const history = useAnswer(store, "history", {}, store.stamp.value);
  if (!answer.value || !history.value) return html`<${Wait} />`;
  const got = answer.value;
  if (history.value.entries.length < 2) {
    return html`<div class="page"><p>Nothing was changed yet. State something about an edge of the map: what it does to the model is shown here.</p></div>`;
  }
  return html`<div class="page compare">
    <${Versions} store=${store} entries=${history.value.entries} answer=${got} />
    ${!got.ready && html`<p class="note">${got.message}</p>`}
    ${got.ready && html`<p>${got.measured}</p>
      ${got.warnings.map((text) => html`<p class="note" key=${text}>${text}</p>`)}
      <${Scores} scores=${got.scores} />
      <div class="grid"><${ChangedRows} store=${store} answer=${got} /><${Relevance} relevance=${got.relevance} />
        <${Edges} store=${store} answer=${got} /></div>
      <${Effects} effects=${got.effects} />`}
  </div>`;
}
