import { Type } from "typebox";
import { EntryPage, EntryQuery } from "../../base/vocabulary/entry.ts";
import { define } from "../define.ts";

export const entryRequests = define({
  "lares/entries/query": {
    about:
      "Returns files and folders of the index that match every given field, ordered by path. A person sees the whole index; agents ask with `vdfs/query` of the guest ABI and see what they were granted.",
    errors: {
      LimitExceeded:
        "The query takes too much of the kernel's time. Use a simpler pattern, or ask folder by folder.",
    },
    params: Type.Object(EntryQuery.properties),
    result: EntryPage,
  },
});
