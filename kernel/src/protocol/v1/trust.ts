import { Type } from "typebox";
import { HashOf } from "../../base/vocabulary/common.ts";
import { Status } from "../../base/vocabulary/status.ts";
import { TrustGrants, TrustProgram, TrustQuestion } from "../../base/vocabulary/trust.ts";
import { define } from "../define.ts";

export const trustRequests = define({
  "lares/trust": {
    about:
      "Answers the question that the documents ask, and returns the status. It is a person's explicit act.\n\n`trusted: true` with `grants` grants what `grants` names and withholds everything else. Without `grants` it grants everything that `lares/status` lists under `trust.asks`. What is withheld is denied as if it had not been asked for, and is not asked again by itself. `trusted: false` revokes every acceptance and makes this connection untrusted.",
    errors: {
      DigestMismatch: "The documents have changed since they were shown. Show them again.",
      InvalidParams:
        "`grants` comes without `digest`, or names a part or folder that was not asked for. Also as for any request.",
    },
    params: Type.Object({
      trusted: Type.Boolean({ description: "The person accepts the documents, or no longer does" }),
      digest: Type.Optional(HashOf("The digest that was shown; default whatever is there now")),
      grants: Type.Optional(TrustGrants),
    }),
    result: Status,
  },
  "lares/trust/question": {
    about:
      "Returns everything that the documents ask for, in parts, with what the person has said of each. All text in it can be shown as it is: invisible characters are written as marks.",
    errors: {},
    params: Type.Object({}),
    result: TrustQuestion,
  },
  "lares/trust/program": {
    about:
      "Returns what changed in an extension's program since it was accepted: its files, and for the one named by `path` the diff. The kernel keeps accepted sources of up to 400 files and 2 MiB for each program, each file up to 256 KiB.",
    errors: { NotFound: "The documents name no extension with this id." },
    params: Type.Object({
      extension: Type.String({ maxLength: 256, description: "The extension's id" }),
      path: Type.Optional(
        Type.String({
          maxLength: 4_096,
          description: "The file whose diff is wanted, relative to its folder",
        }),
      ),
    }),
    result: TrustProgram,
  },
});
