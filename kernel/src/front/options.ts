export interface FrontOptions {
  /** The product's version, for `serverInfo`. */
  readonly version: string;
  /** Stdin and stdout, or the pipe that the client opened. */
  readonly channel: { readonly kind: "stdio" } | { readonly kind: "pipe"; readonly name: string };
  /** The front ends when this process does. */
  readonly clientProcessId?: number;
  /** The kernel stays when its last client has left. */
  readonly keep?: boolean;
  /** How to run this program again; the front adds `kernel --state=… --root=…`. */
  readonly program: { readonly executable: string; readonly arguments: readonly string[] };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called once `initialize` is answered: the moment for what a start must not wait for. */
  readonly answered?: () => void;
}
