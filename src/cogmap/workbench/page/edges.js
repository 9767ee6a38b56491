// Which edges of the chosen network are to be seen, and what is lit: shared by map, matrix and panel.
import { computed, signal } from "./vendor/preact.js";

export const MOST_DRAWN = 800;
export const STEPS = 200;

/** Signals of the map's controls, and what follows from them. */
export function createLens(store) {
  const lens = {
    threshold: signal(null),
    near: signal(false),
    search: signal(""),
    hovered: signal(null),
    camera: signal(null),
    size: signal({ width: 0, height: 0 }),
    active: signal(0),
    form: signal("map"),
    order: signal("relevance"),
    cell: signal({ row: 0, column: 1 }),
  };
  lens.edges = computed(() => allEdges(store.net.value));
  lens.largest = computed(() => Math.abs(lens.edges.value[0]?.weight ?? 0));
  lens.step = computed(() => lens.threshold.value ?? readable(lens.edges.value, store.net.value));
  lens.least = computed(() => (lens.step.value / STEPS) * lens.largest.value);
  lens.strong = computed(() => lens.edges.value.filter((edge) => Math.abs(edge.weight) >= lens.least.value));
  lens.chosen = computed(() => indices(store));
  lens.shown = computed(() => shownEdges(store, lens));
  lens.neighbours = computed(() => neighbours(lens));
  lens.lit = computed(() => litConcepts(store, lens));
  return lens;
}

function allEdges(net) {
  if (!net) return [];
  const edges = [];
  net.weights.forEach((line, source) =>
    line.forEach((weight, target) => {
      // A weight on oneself is no edge to look at; the matrix shows it.
      if (weight && source !== target) edges.push({ source, target, weight, key: `${source} ${target}` });
    }),
  );
  return edges.sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight));
}

/** The first position of the slider: about as many edges as can be told apart on one ring. */
function readable(edges, net) {
  const n = net?.concepts.length ?? 0;
  const wanted = Math.min(2 * n, 20 + Math.floor(n / 2));
  if (edges.length <= wanted) return 0;
  return Math.floor((STEPS * Math.abs(edges[wanted - 1].weight)) / Math.abs(edges[0].weight));
}

/** Places of the selected concept, or of the two ends of the selected edge, in the chosen network. */
function indices(store) {
  const place = (name) => store.net.value?.concepts.findIndex((concept) => concept.name === name) ?? -1;
  const { concept, source, target } = store.selected.value ?? {};
  if (concept !== undefined) return { concept: place(concept) };
  if (source !== undefined) return { source: place(source), target: place(target) };
  return {};
}

function shownEdges(store, lens) {
  const { concept, source, target } = lens.chosen.value;
  let edges = lens.strong.value;
  if (lens.near.value && concept >= 0) edges = edges.filter((one) => one.source === concept || one.target === concept);
  edges = edges.slice(0, MOST_DRAWN);
  // What is stated or selected is drawn however weak it is: a forbidden edge has no weight at all.
  const known = new Set(edges.map((one) => one.key));
  const wanted = [...store.stated.value.keys(), ...(source >= 0 && target >= 0 ? [`${source} ${target}`] : [])];
  for (const key of new Set(wanted)) {
    const [from, to] = key.split(" ").map(Number);
    const apart = lens.near.value && concept >= 0 && from !== concept && to !== concept;
    if (from !== to && !apart && !known.has(key)) edges.push({ source: from, target: to, weight: store.net.value.weights[from][to], key });
  }
  // The strongest are drawn last and lie on top.
  return edges.reverse();
}

function neighbours(lens) {
  const { concept, source } = lens.chosen.value;
  if (!lens.near.value || !(concept >= 0) || source >= 0) return null;
  return new Set([concept, ...lens.shown.value.flatMap((edge) => [edge.source, edge.target])]);
}

/** Concepts that stand out, those found included; null where nothing is pointed at, selected or searched. */
function litConcepts(store, lens) {
  const wanted = lens.search.value.trim().toLowerCase();
  const centre = lens.hovered.value?.concept ?? lens.chosen.value.concept;
  const edge = lens.hovered.value?.edge ?? (lens.chosen.value.source >= 0 ? lens.chosen.value : null);
  if (wanted) {
    return new Set(store.net.value.concepts.flatMap((c, k) => (c.name.toLowerCase().includes(wanted) ? [k] : [])));
  }
  if (edge && lens.hovered.value?.concept === undefined) return new Set([edge.source, edge.target]);
  if (centre === undefined || centre < 0) return null;
  const ends = lens.shown.value.filter((one) => one.source === centre || one.target === centre);
  return new Set([centre, ...ends.flatMap((one) => [one.source, one.target])]);
}

export function isLit(lens, edge) {
  const hovered = lens.hovered.value;
  const { concept, source, target } = lens.chosen.value;
  const same = (other) => other.source === edge.source && other.target === edge.target;
  if (hovered?.edge) return same(hovered.edge);
  const centre = hovered?.concept ?? concept;
  if (centre !== undefined) return edge.source === centre || edge.target === centre;
  return source === undefined ? null : same({ source, target });
}

/** Concepts in the order that was chosen for the matrix. */
export function ordered(net, order, ring) {
  const all = [...net.concepts.keys()];
  if (order === "data") return all;
  if (order === "linked") return ring(net.weights);
  return all.sort((i, j) => net.concepts[j].relevance - net.concepts[i].relevance || i - j);
}
