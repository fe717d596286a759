import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { frame, FrameReader, type Message } from "./frames.ts";
import { until } from "./until.ts";

/** A local process at the kernel's own socket, without the front: it sends handwritten bytes. */
export class SocketPeer implements Disposable {
  readonly socket: Socket;
  /** All received messages, oldest first. */
  readonly received: Message[] = [];
  /** The kernel's greeting: "ok <pid>", "refused", or null if it ended without one. */
  readonly greeted: Promise<string | null>;
  #text = "";
  #isOpen = true;
  #reader: FrameReader | null = null;
  #lastId = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    const greeted = Promise.withResolvers<string | null>();
    this.greeted = greeted.promise;
    socket.on("error", () => undefined); // the kernel may disconnect first; `isOpen` shows that
    socket.on("close", () => {
      this.#isOpen = false;
      greeted.resolve(null);
    });
    socket.on("data", (chunk) => {
      if (this.#reader === null) {
        this.#text += chunk.toString("latin1");
        const end = this.#text.indexOf("\n");
        if (end === -1) return;
        greeted.resolve(this.#text.slice(0, end).replace("lares/1 ", ""));
        this.#reader = new FrameReader();
        chunk = Buffer.from(this.#text.slice(end + 1), "latin1");
      }
      this.received.push(...this.#reader.push(chunk));
    });
  }

  /** Connects and sends `greeting` unchanged; sends nothing if it is empty. */
  static async open(
    stateFolder: string,
    greeting: string,
    options: { /** Keeps its side open when the kernel closes the other. */ allowHalfOpen?: boolean } = {},
  ): Promise<SocketPeer> {
    const socket = connect({ path: join(stateFolder, "kernel.sock"), ...options });
    const peer = new SocketPeer(socket);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    if (greeting !== "") socket.write(greeting);
    return peer;
  }

  /** Connects with the token of the state folder, like a front. */
  static async greet(stateFolder: string): Promise<SocketPeer> {
    const token = await readFile(join(stateFolder, "kernel.token"), "utf8");
    const peer = await SocketPeer.open(stateFolder, `lares/1 ${token}\n`);
    await peer.greeted;
    return peer;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  send(message: unknown): void {
    this.write(frame(message));
  }

  /** Resolves to the message that answers this id. */
  answer(id: number | string | null): Promise<Message> {
    return until(`the answer to ${String(id)}`, () =>
      this.received.find((message) => message.method === undefined && message.id === id),
    );
  }

  request(method: string, params: unknown = {}): Promise<Message> {
    const id = `peer-${++this.#lastId}`;
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.answer(id);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
