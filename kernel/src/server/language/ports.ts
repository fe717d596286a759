/** Files that an editor is asked to open. */
export interface ShownFiles {
  /** Writes a text to a temporary read-only file and returns its URI. `name` becomes part of the file's name. */
  write(name: string, text: string): Promise<string>;
}
