import type { Disposable, Event } from "vscode";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
} from "../protocol.ts";

/** The state of the kernel as shown to a person. */
export type KernelState =
  | { readonly kind: "starting" }
  /**
   * The kernel answers, but no agent runs: the folder is not trusted, in the editor or for what its documents request.
   */
  | { readonly kind: "untrusted"; readonly by: "editor" | "documents" }
  | { readonly kind: "running" }
  /** The process exists but does not answer; it may recover by itself. */
  | { readonly kind: "silent"; readonly reason: string }
  /** The process is gone and will be restarted in this many milliseconds. */
  | { readonly kind: "restarting"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** The only access of the views to the kernel. */
export interface Kernel {
  readonly state: KernelState;
  readonly onDidChangeState: Event<KernelState>;
  /** Rejects with `KernelError` if the kernel refuses (`code`, `data.code`), and if there is no kernel. */
  request<Method extends ClientRequest>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>>;
  /** The listener stays registered across restarts of the kernel. */
  on<Method extends ServerNotification>(
    method: Method,
    listener: (params: NotificationParamsOf<Method>) => void,
  ): Disposable;
}

/** A refusal by the kernel: `data.code` is its name, such as "Stale"; `message` says what to do. */
export interface KernelError extends Error {
  readonly code: number;
  readonly data?: { readonly code: string };
}
