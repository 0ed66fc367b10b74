// Lets the search work on pages that are read from the disk, where browsers start no workers: a hidden frame runs the
// worker's script in place of one. The theme looks for a file of this name.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: address, onload: () => resolve(inside), onerror: reject });
        inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  }
  window.Worker = FrameWorker;
}
