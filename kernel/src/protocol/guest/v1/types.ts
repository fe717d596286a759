import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { memoryFields } from "../../../base/vocabulary/memory-calls.ts";
import { define } from "../../define.ts";
import { Nothing } from "./fields.ts";

const TypeName = Type.String({
  minLength: 3,
  maxLength: 193,
  description: "The type: the id of the extension that declares it, a slash, and its name",
});
const Key = Type.String({ minLength: 1, maxLength: 256, description: "The value's key" });
const Version = (description: string) => Type.Integer({ minimum: 1, description });
const Value = Json("The value, an object that fits the type's schema, of at most 64 KiB");
const Item = Type.Object(
  {
    version: Version("The value's version, which each write raises"),
    value: Json("The value"),
  },
  { description: "A value" },
);
const Written = Type.Object({ version: Version("The value's version now") });

const noReading = "The type is another extension's, and `shared_types.read` does not list it.";
const noWriting = "The type is another extension's, and `shared_types.write` does not list it.";
const noType = "No extension declares this type.";
const unfit =
  "The value does not fit the type's schema, or has no key; `data.path` is the place of the fault in it.";
const changed =
  "The type's definition has changed and does not fit the values that are there; the message names the first.";
const noOwner =
  "The type's definition has changed, and the agent that migrates its values cannot run; `data.state` and `data.reason` say why.";
const full = "The value is over 64 KiB of JSON, or there are as many values of the type as there may be.";
const moved = "The value has another version, which `data.revision` names.";

/** Values of types that extensions declare, which agents of the workspace share. */
export const typeCalls = define({
  "types/create": {
    about:
      "Adds a value of a type. What its schema calls the key tells it apart. It is on the disk when the call is answered.",
    errors: {
      PermissionDenied: noWriting,
      NotFound: noType,
      InvalidParams: unfit,
      Conflict: "There is a value with this key, at the version that `data.revision` names.",
      LimitExceeded: full,
      InvalidDocument: changed,
      AgentError: noOwner,
    },
    params: Type.Object({ type: TypeName, value: Value }, closed),
    result: Written,
  },
  "types/get": {
    about: "Returns a value by its key, or null if there is none.",
    errors: { PermissionDenied: noReading, NotFound: noType, InvalidDocument: changed, AgentError: noOwner },
    params: Type.Object({ type: TypeName, key: Key }, closed),
    result: Type.Union([Item, Type.Null()]),
  },
  "types/query": {
    about:
      "Returns the values of a type that meet all conditions, ordered by key. Numbers are compared as numbers. A page of more than 512 KiB ends earlier than `limit` says.",
    errors: {
      PermissionDenied: noReading,
      NotFound: noType,
      InvalidParams: "A condition has no sense, such as `gt` with a truth value.",
      LimitExceeded: "Looking through the values takes more CPU time than `max_cpu_ms_per_event` leaves.",
      InvalidDocument: changed,
      AgentError: noOwner,
    },
    params: Type.Object(
      {
        type: TypeName,
        where: memoryFields.temporalQuery.where,
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "How many values at most" }),
        ),
        cursor: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: "`cursor` of the page before; default the first page",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({
      items: Type.Array(Item, { description: "The values" }),
      cursor: Type.Optional(
        Type.String({ description: "Where the next page begins; absent on the last one" }),
      ),
    }),
  },
  "types/update": {
    about:
      "Replaces a value if it is still at `version`. Two agents that change it at once cannot overwrite each other: one of them reads and tries again.",
    errors: {
      PermissionDenied: noWriting,
      NotFound: "No extension declares this type, or it has no value with this key.",
      InvalidParams: `${unfit} A value keeps its key.`,
      Conflict: moved,
      LimitExceeded: full,
      InvalidDocument: changed,
      AgentError: noOwner,
    },
    params: Type.Object(
      { type: TypeName, key: Key, version: Version("The version that it replaces"), value: Value },
      closed,
    ),
    result: Written,
  },
  "types/remove": {
    about: "Removes a value if it is still at `version`. A later value with its key begins at a higher one.",
    errors: {
      PermissionDenied: noWriting,
      NotFound: "No extension declares this type, or it has no value with this key.",
      Conflict: moved,
      InvalidDocument: changed,
      AgentError: noOwner,
    },
    params: Type.Object(
      { type: TypeName, key: Key, version: Version("The version that it removes") },
      closed,
    ),
    result: Nothing,
  },
});
