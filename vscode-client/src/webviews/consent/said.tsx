import type { VNode } from "preact";

/**
 * Text that the kernel made visible already, whole: no character of it is hidden, and it wraps instead of being cut. It
 * stands apart from the text around it, so that letters of another direction do not turn that around.
 */
export function Said({ text, quoted }: { readonly text: string; readonly quoted?: boolean }): VNode {
  return quoted === true ? (
    <span>
      “<bdi>{text}</bdi>”
    </span>
  ) : (
    <bdi>{text}</bdi>
  );
}
