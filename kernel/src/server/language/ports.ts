/** Documents that an editor is asked to open. */
export interface ShownFiles {
  /** Keeps a text as a read-only file for a while; its URI. `name` is part of the file's. */
  write(name: string, text: string): Promise<string>;
}
