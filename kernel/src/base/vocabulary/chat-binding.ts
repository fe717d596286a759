/** The binding of a file to the conversation that it shows. It is kept in the state folder and never read from the file. */
export interface ChatBinding {
  /** Relative to the workspace; the real path. */
  readonly path: string;
  /** Both null until something was sent. */
  readonly agent: string | null;
  readonly conversation: string | null;
  /** The id of the entry that was sent last. */
  readonly sent: string | null;
  /** The seq of the last entry that is not missing in the file. */
  readonly written: number;
  /** Where the next answer is written, and before where nothing is sent: offsets in the text that `seen` stands for. */
  readonly answer: number;
  readonly floor: number;
  /** The digests of the text before `answer` and before `floor`. */
  readonly beforeAnswer: string;
  readonly beforeFloor: string;
  /** The digest of the whole text as an editor last showed it. */
  readonly seen: string;
}

/** The store of the bindings. */
export interface ChatBindings {
  get(path: string): Promise<ChatBinding | null>;
  /** Stores a binding in place of the last one of its path. Resolves when the operating system has it. */
  put(binding: ChatBinding): Promise<void>;
  /** Stores a binding, and deletes the one of the path that its file had before: both, or none. */
  move(binding: ChatBinding, from: string): Promise<void>;
  /** Returns those of the paths that have a binding. */
  among(paths: readonly string[]): Promise<readonly string[]>;
  digest(text: string): string;
}

/** A file of the workspace that is at another path now. */
export interface FileMove {
  readonly from: string;
  readonly to: string;
}
