export interface FrontOptions {
  /** The product's version, for `serverInfo`. */
  readonly version: string;
  /** Stdin and stdout, or a pipe that the client opened. */
  readonly channel: { readonly kind: "stdio" } | { readonly kind: "pipe"; readonly name: string };
  /** The front ends when this process ends. */
  readonly clientProcessId?: number;
  /** Keeps the kernel running after its last client has disconnected. */
  readonly keep?: boolean;
  /** The command that runs this program again; the front adds `kernel --state=… --root=…`. */
  readonly program: { readonly executable: string; readonly arguments: readonly string[] };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called once `initialize` is answered. Work that must not delay the start belongs here. */
  readonly answered?: () => void;
}
