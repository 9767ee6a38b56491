// The workbench in a notebook: the page's own modules, mounted in a shadow root, with calls as messages to Python.

// Modules import each other by relative names, which lead nowhere in a notebook: each becomes a blob, and names in its
// imports those of blobs. Imports have no cycles, so this ends.
function blobs(sources) {
  const made = new Map();
  const urlOf = (name) => {
    if (!made.has(name)) {
      if (!(name in sources)) throw new Error(`The workbench has no module ${name}.`);
      const linked = sources[name].replace(/(\bfrom\s*|\bimport\s*)"(\.[^"]+)"/g, (_, word, path) => {
        const target = new URL(path, `http://modules/${name}`).pathname.slice(1);
        return `${word}"${urlOf(target)}"`;
      });
      made.set(name, URL.createObjectURL(new Blob([linked], { type: "text/javascript" })));
    }
    return made.get(name);
  };
  return { urlOf, remove: () => made.forEach((url) => URL.revokeObjectURL(url)) };
}

function caller(model) {
  const waiting = new Map();
  let last = 0;
  const hear = (message) => {
    const one = waiting.get(message.id);
    if (!one) return;
    waiting.delete(message.id);
    const { error } = message.answer;
    if (error) one.reject(Object.assign(new Error(error.message), { kind: error.kind }));
    else one.resolve(message.answer);
  };
  model.on("msg:custom", hear);
  const call = (name, payload = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      // Several views of one widget share its messages: an answer is known by the view and its number.
      const id = `${model.cid ?? ""}${Math.random().toString(36).slice(2)}-${last}`;
      waiting.set(id, { resolve, reject });
      model.send({ id, name, payload });
    });
  return { call, remove: () => model.off("msg:custom", hear) };
}

async function render({ model, el }) {
  const host = document.createElement("div");
  el.append(host);
  const shadow = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = model.get("style");
  const root = document.createElement("div");
  shadow.append(style, root);
  const modules = blobs(model.get("sources"));
  const { call, remove } = caller(model);
  const { mount } = await import(modules.urlOf("app.js"));
  const takeAway = mount(root, call);
  return () => {
    takeAway();
    remove();
    modules.remove();
    host.remove();
  };
}

export default { render };
