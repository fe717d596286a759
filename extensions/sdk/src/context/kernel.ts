/** The calls of guest ABI v1, as a context makes them. Rejects with a LaresError. */
export interface Kernel {
  call<Result>(method: string, params: Readonly<Record<string, unknown>>): Promise<Result>;
  /** A notification: `trace`. */
  notify(method: string, params: Readonly<Record<string, unknown>>): void;
}
