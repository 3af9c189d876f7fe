/* A page with a kernel and the widget manager of VS Code's notebooks, or html-manager used as Colab uses its own. */

import { KernelManager, ServerConnection } from "@jupyterlab/services";

const VIEW = "application/vnd.jupyter.widget-view+json";
const required = (name) =>
  new Promise((resolve, reject) => window.requirejs([name], resolve, reject));

/** html-manager draws; how it speaks with a kernel is up to the page. */
const htmlManager = async (kernel, address) => {
  window.requirejs.config({
    paths: { manager: `${address}static/html-manager` },
    bundles: { manager: ["@jupyter-widgets/base", "@jupyter-widgets/html-manager"] },
  });
  const base = await required("@jupyter-widgets/base");
  const { HTMLManager } = await required("@jupyter-widgets/html-manager");
  const commOf = (comm) => new base.shims.services.Comm(comm);
  class Manager extends HTMLManager {
    async _create_comm(target, id, data, metadata) {
      const comm = kernel.createComm(target, id);
      if (data || metadata) comm.open(data, metadata);
      return commOf(comm);
    }
    async _get_comm_info() {
      const { content } = await kernel.requestCommInfo({ target_name: this.comm_target_name });
      return content.comms;
    }
    async show(id, element) {
      const view = await this.create_view(await this.get_model(id));
      await this.display_view(view, element);
    }
  }
  const manager = new Manager({ loader: required });
  kernel.registerCommTarget(manager.comm_target_name, (comm, message) =>
    manager.handle_comm_open(commOf(comm), message),
  );
  return manager;
};

/** As VS Code's notebooks load it; it registers its own targets with the kernel. */
const ofVsCode = async (kernel, address) => {
  const { activate } = await import(`${address}static/vscode.js`);
  activate();
  window.vscIPyWidgets8.load();
  const scripts = {
    widgetsRegisteredInRequireJs: new Set(),
    loadWidgetScript: () => required("anywidget"),
    successHandler() {},
    errorHandler: (...told) => console.error(...told),
  };
  const manager = new window.vscIPyWidgets.WidgetManager(kernel, document.body, scripts, () => {});
  manager.show = async (id, node) => {
    const view = await manager.create_view(await manager.get_model(id));
    await manager.display_view({}, view, { node });
  };
  return manager;
};

const MANAGERS = { "html-manager": htmlManager, vscode: ofVsCode };

/** Begin with a kernel; `run` shows in an element what the last line of a cell is. */
window.begin = async (name, address) => {
  window.requirejs.config({ paths: { anywidget: `${address}static/anywidget` } });
  const serverSettings = ServerConnection.makeSettings({
    baseUrl: address,
    wsUrl: address.replace("http", "ws"),
  });
  const kernels = new KernelManager({ serverSettings });
  const kernel = await kernels.startNew({ name: "python3" });
  await kernel.info;
  const widgets = await MANAGERS[name](kernel, address);
  window.run = async (code) => {
    const element = document.body.appendChild(document.createElement("div"));
    element.className = "output";
    const shown = [];
    const future = kernel.requestExecute({ code });
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "error") shown.push(Promise.reject(new Error(content.evalue)));
      const view = content.data?.[VIEW];
      if (view) shown.push(widgets.show(view.model_id, element));
    };
    await future.done;
    await Promise.all(shown);
  };
};
