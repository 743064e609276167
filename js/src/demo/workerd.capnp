# What workerd runs. serve.js bundles into one folder, copies this file beside the bundle and names
# the real address on the command line. workerd reads no package.json and bundles nothing: every
# module is listed here.

using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "api", worker = .api)],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "api")],
);

const api :Workerd.Worker = (
  compatibilityDate = "2025-01-01",
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "core.wasm", wasm = embed "core.wasm"),
  ],
  bindings = [
    (name = "HOST", fromEnvironment = "DEMO_HOST"),
    (name = "POLICIES", text = embed "policies.json"),
    (name = "PAGE_HTML", text = embed "page.html"),
    (name = "PAGE_CSS", text = embed "page.css"),
    (name = "PAGE_JS", text = embed "page.js"),
  ],
);
