import { EventEmitter, type Disposable } from "vscode";
import type { PolledStatus } from "./polled-status.ts";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
  Status,
} from "../protocol.ts";
import type { Connection } from "./connection.ts";
import { isSameState, kernelStateOf } from "./kernel-state.ts";
import type { Kernel, KernelState } from "./kernel.ts";

/** The kernel as the views know it: combines the state of the process and its status. */
export class LaresKernel implements Kernel, Disposable {
  readonly #connection: Connection;
  readonly #status: PolledStatus;
  readonly #stateChanged = new EventEmitter<KernelState>();
  readonly onDidChangeState = this.#stateChanged.event;
  readonly #subscriptions: Disposable[];
  readonly #compute: () => KernelState;
  #state: KernelState;

  constructor(connection: Connection, status: PolledStatus, isEditorTrusted: () => boolean) {
    this.#connection = connection;
    this.#status = status;
    this.#compute = () => kernelStateOf(connection.state, status.current, isEditorTrusted(), status.silence);
    this.#state = this.#compute();
    this.#subscriptions = [
      connection.onDidChangeState(() => this.#update()),
      status.onDidChange(() => this.#update()),
    ];
  }

  get state(): KernelState {
    return this.#state;
  }

  async request<Method extends ClientRequest>(
    method: Method,
    params: ParamsOf<Method>,
  ): Promise<ResultOf<Method>> {
    // A request that would wait for an unknown time, and then take effect unexpectedly, is rejected at once.
    if (this.#state.kind === "silent")
      throw new Error(
        "The kernel does not answer, so the request was not sent. Run “Lares: Restart Kernel” to start another one.",
      );
    const result = await this.#connection.request(method, params);
    // The new status is shared with everything that uses it, whoever requested it.
    if (method === "lares/status" || method === "lares/trust") this.#status.take(result as Status);
    return result;
  }

  on<Method extends ServerNotification>(
    method: Method,
    listener: (params: NotificationParamsOf<Method>) => void,
  ): Disposable {
    return this.#connection.on(method, listener);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#stateChanged.dispose();
  }

  #update(): void {
    const state = this.#compute();
    if (isSameState(this.#state, state)) return;
    this.#state = state;
    this.#stateChanged.fire(state);
  }
}
