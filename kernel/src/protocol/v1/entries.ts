import { Type } from "typebox";
import { EntryPage, EntryQuery } from "../../base/vocabulary/entry.ts";
import { define } from "../define.ts";

export const entryRequests = define({
  "lares/entries/query": { params: Type.Object(EntryQuery.properties), result: EntryPage },
});
