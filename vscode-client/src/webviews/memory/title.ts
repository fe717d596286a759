import { line, summaryOf } from "../shared/text.ts";
import type { Item } from "./messages.ts";

/** What an item of knowledge says of itself on one line. */
export function titleOf({ text, data }: Pick<Item, "text" | "data">): string {
  return text === undefined || text === "" ? summaryOf(data) : line(text, 240);
}
