import { line, summaryOf } from "../shared/text.ts";
import type { Item } from "./messages.ts";

/** Returns a title of an item of knowledge on one line. */
export function titleOf({ text, data }: Pick<Item, "text" | "data">): string {
  return text === undefined || text === "" ? summaryOf(data) : line(text, 240);
}
