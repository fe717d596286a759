import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** Renders a remark of Lares beside a result, broken between words. */
export function hint(text: string, { style, width }: Pick<Surface, "style" | "width">): string[] {
  return wrap(text, width).map((line) => style.dim(line));
}
