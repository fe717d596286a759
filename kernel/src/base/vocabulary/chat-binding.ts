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
  digest(text: string): string;
}
