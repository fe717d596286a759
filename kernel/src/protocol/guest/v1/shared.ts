import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Name } from "./fields.ts";

/** Values that agents share by keys. */
export const sharedCalls = define({
  "shared/read": {
    about: "Returns the value that agents share by a key, or null where nothing was written.",
    errors: { PermissionDenied: "The agent has no `shared_data`, or its `read` does not list the key." },
    params: Type.Object({ key: Name("The key") }, closed),
    result: Type.Union([
      Type.Object({
        version: Type.Integer({ description: "How often it was written" }),
        value: Json("The value"),
      }),
      Type.Null(),
    ]),
  },
  "shared/write": {
    about: "Writes the value that agents share by a key.",
    errors: {
      PermissionDenied: "The agent has no `shared_data`, or its `write` does not list the key.",
      Conflict: "The key has another version, which `data.revision` names.",
      LimitExceeded: "The value is over 256 KiB of JSON, or this agent shares as much as it may.",
    },
    params: Type.Object(
      {
        key: Name("The key"),
        value: Json("The new value, any JSON of at most 256 KiB"),
        version: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: "Writes only while the key has this version; 0: nothing was written. Default always",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({ version: Type.Integer({ description: "The new version" }) }),
  },
});
