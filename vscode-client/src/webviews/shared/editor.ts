import type { Port } from "./host.ts";

/** The editor around the page. Its kept state survives the page, which is discarded when it is hidden. */
export interface Editor extends Port {
  readonly kept: unknown;
  keep(state: unknown): void;
}

export function editor(): Editor {
  const api = acquireVsCodeApi();
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the editor's own, which takes none
    postMessage: (message) => api.postMessage(message),
    onMessage: (listener) =>
      window.addEventListener("message", ({ data }: MessageEvent<unknown>) => listener(data)),
    kept: api.getState(),
    keep: (state) => void api.setState(state),
  };
}
