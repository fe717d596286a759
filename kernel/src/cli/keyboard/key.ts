/** A key that a person pressed. */
export interface Key {
  /** "up", "return", "escape", "tab", "space", or the character. */
  readonly name: string;
  /** The text that the key types in a text field; may be empty. */
  readonly text: string;
  readonly isControl: boolean;
  readonly isShift: boolean;
  /** Alt, or Escape directly before it. */
  readonly isMeta?: boolean;
}
