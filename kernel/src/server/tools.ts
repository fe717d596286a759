import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { Handlers } from "./handlers.ts";
import type { Session } from "./session/session.ts";

/** `lares/tools/*`: the functions that agents offer. */
export const toolHandlers = {
  "lares/tools/list": async ({ agent }, { client }) => client.services.tools.list(agent),
  "lares/tools/call": async (call, session, signal) => {
    const { agent, name, arguments: args, workDoneToken: token, deadline_ms: deadlineMs, ...named } = call;
    const { client } = session;
    const { tools } = client.services;
    const options = { ...named, signal, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    if (token === undefined) return tools.call(client.principal, agent, name, args, options);
    using progress = new CallProgress(session, token, `${agent}/${name}`);
    return await tools.call(client.principal, agent, name, args, { ...options, progress: progress.sink });
  },
} satisfies Partial<Handlers>;

/** Sends the progress of a call under the client's token. Sends nothing if the call reports nothing. */
class CallProgress implements Disposable {
  readonly #session: Session;
  readonly #token: string | number;
  readonly #title: string;
  #isShown = false;
  #isOver = false;

  constructor(session: Session, token: string | number, title: string) {
    this.#session = session;
    this.#token = token;
    this.#title = title;
  }

  readonly sink: ProgressSink = ({ fraction, message }) => {
    if (this.#isOver) return;
    if (!this.#isShown) this.#tell({ kind: "begin", title: this.#title, cancellable: true });
    this.#isShown = true;
    this.#tell({
      kind: "report",
      percentage: Math.round(fraction * 100),
      ...(message === undefined ? {} : { message }),
    });
  };

  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#isShown) this.#tell({ kind: "end" });
  }

  #tell(value: object): void {
    this.#session.endpoint.notifyStandard("$/progress", { token: this.#token, value });
  }
}
