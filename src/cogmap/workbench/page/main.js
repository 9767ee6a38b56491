// The page's own entry: takes the token out of the address, makes `call` of fetch, and mounts the workbench.
import { mount } from "./app.js";

const KEPT = "cogmap-workbench-token";

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT, given);
    // The token must not stay in the address, which is copied and kept in the browser's history.
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT);
}

function mistaken(kind, message) {
  return Object.assign(new Error(message), { kind });
}

function caller(token) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  return async (name, payload = {}) => {
    let response;
    try {
      response = await fetch(`/call/${name}`, { method: "POST", headers, body: JSON.stringify(payload) });
    } catch {
      throw mistaken("failure", "The workbench does not answer. Start it again with `cogmap workbench`: the session is kept.");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const { kind = "failure", message = `The workbench answered ${response.status}.` } = answer.error ?? {};
    throw mistaken(kind, message);
  };
}

const root = document.getElementById("root");
const token = takeToken();
if (token) {
  mount(root, caller(token));
} else {
  root.className = "cogmap-workbench";
  const said = document.createElement("main");
  said.className = "closed";
  said.append(Object.assign(document.createElement("h1"), { textContent: "cogmap workbench" }));
  said.append(
    Object.assign(document.createElement("p"), {
      textContent: "This address lacks its key. Open the whole URL that `cogmap workbench` printed.",
    }),
  );
  root.append(said);
}
