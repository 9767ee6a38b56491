// What the workbench knows: signals that the parts read, and the ways in which they change.
//
// Each mount has a store of its own, so that two widgets in one notebook do not mix. Easy to get wrong: a refit ends
// while nobody asks, so progress is polled as long as one runs, and the rest is read again when the model is another.
import { batch, computed, signal, useEffect, useSignal } from "./vendor/preact.js";

const POLL = 350;

export function createStore(call) {
  const store = {
    call,
    state: signal(null),
    map: signal(null),
    progress: signal(null),
    notice: signal(null),
    said: signal(""),
    view: signal("map"),
    network: signal(0),
    selected: signal(null),
    focus: signal(0),
    row: signal(null),
    compared: signal({}),
    places: new Map(),
    gone: false,
  };
  store.stamp = computed(() => `${store.state.value?.version} ${store.state.value?.model_version}`);
  store.model = computed(() => store.state.value?.model_version);
  store.net = computed(() => {
    const networks = store.map.value?.networks ?? [];
    return networks[Math.min(store.network.value, networks.length - 1)];
  });
  store.stated = computed(() => statedEdges(store));
  return store;
}

function statedEdges({ map, network }) {
  const here = (map.value?.stated ?? []).filter((one) => one.network === network.value);
  return new Map(here.map((one) => [`${one.source} ${one.target}`, one.statement]));
}

export function complain(store, error) {
  store.notice.value = { kind: error.kind ?? "failure", message: error.message };
  if (error.kind === "conflict") refresh(store);
}

export async function refresh(store) {
  try {
    await accept(store, await store.call("state", {}));
  } catch (error) {
    store.notice.value = { kind: error.kind ?? "failure", message: error.message };
  }
}

async function accept(store, state) {
  const known = store.map.value;
  // Relevance is computed in the background, after the model.
  const unfinished = known?.networks.some((net) => net.concepts.some((concept) => concept.relevance === null));
  const stale = unfinished || known?.version !== state.model_version || store.state.value?.version !== state.version;
  const map = stale ? await store.call("map", {}) : known;
  if (store.gone) return;
  batch(() => {
    store.state.value = state;
    store.map.value = map;
    store.progress.value = state.progress;
  });
  watch(store);
}

function watch(store) {
  if (store.timer || store.gone || store.progress.value?.state !== "running") return;
  store.timer = setTimeout(async () => {
    store.timer = 0;
    try {
      const progress = await store.call("progress", {});
      if (store.gone) return;
      const over = progress.state !== "running" || progress.model_version !== store.state.value.model_version;
      store.progress.value = progress;
      if (over) {
        store.said.value = progress.message || `The refit is ${progress.state}.`;
        await refresh(store);
      } else watch(store);
    } catch (error) {
      complain(store, error);
    }
  }, POLL);
}

/** Change the session; the answer is null, or the sentence that says why it was not done. */
export async function change(store, name, payload = {}) {
  try {
    await accept(store, await store.call(name, { version: store.state.value.version, ...payload }));
    store.notice.value = null;
    return null;
  } catch (error) {
    if (error.kind !== "mistake") complain(store, error);
    return error.message;
  }
}

/** Ask for something that is no change of the session: the answer, or null after a complaint. */
export async function ask(store, name, payload = {}) {
  try {
    const answer = await store.call(name, payload);
    store.notice.value = null;
    return answer;
  } catch (error) {
    complain(store, error);
    return null;
  }
}

/** The answer of a call, asked again when its payload or `stamp` changes; null until the first one is there. */
export function useAnswer(store, name, payload, stamp) {
  const answer = useSignal(null);
  useEffect(() => {
    let wanted = true;
    store.call(name, payload).then(
      (value) => wanted && (answer.value = value),
      (error) => wanted && complain(store, error),
    );
    return () => (wanted = false);
  }, [name, JSON.stringify(payload), stamp]);
  return answer;
}

/** A function that works on one payload at a time, and of those that come meanwhile on the newest only.
 *
 * `work` gets a function that tells whether a newer payload waits, so that it can leave its second half out.
 */
export function newest(work) {
  let running = false;
  let waiting = null;
  return async function next(payload) {
    if (running) {
      waiting = payload;
      return;
    }
    running = true;
    await work(payload, () => waiting !== null);
    running = false;
    const later = waiting;
    waiting = null;
    if (later !== null) next(later);
  };
}
