import type { Disposable, Event } from "vscode";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
} from "../protocol.ts";

/** How the kernel is, as a person wants to know it. */
export type KernelState =
  | { readonly kind: "starting" }
  /** Answers, but no agent runs: the folder is not trusted, in the editor or by what its documents ask for. */
  | { readonly kind: "untrusted"; readonly by: "editor" | "documents" }
  | { readonly kind: "running" }
  /** Its process is there and says nothing; it may still come back by itself. */
  | { readonly kind: "silent"; readonly reason: string }
  /** Gone; started again by itself in so many milliseconds. */
  | { readonly kind: "restarting"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** The views' only way to the kernel. */
export interface Kernel {
  readonly state: KernelState;
  readonly onDidChangeState: Event<KernelState>;
  /** Rejects with `KernelError` for the kernel's own refusals (`code`, `data.code`), and when it is not there. */
  request<Method extends ClientRequest>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>>;
  /** Stays across restarts of the kernel. */
  on<Method extends ServerNotification>(
    method: Method,
    listener: (params: NotificationParamsOf<Method>) => void,
  ): Disposable;
}

/** A refusal of the kernel: `data.code` is its name, e.g. "Stale"; `message` says what to do. */
export interface KernelError extends Error {
  readonly code: number;
  readonly data?: { readonly code: string };
}
