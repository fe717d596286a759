/** A model cannot be used until a person mends what the message says. */
export class UnusableModel extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "UnusableModel";
  }
}

export const unusable = (message: string, cause?: unknown): UnusableModel =>
  new UnusableModel(message, cause);
