import type { VNode } from "preact";

/**
 * Shows text in which the kernel has made every character visible. It is never cut, but wraps. It is isolated from the
 * text around it, so that letters of another direction do not affect that text.
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
