import { Type } from "typebox";
import { Json } from "../../base/vocabulary/common.ts";
import { Named } from "../../base/vocabulary/request-fields.ts";
import { define } from "../define.ts";

const TypeName = Named("The type: the id of its extension, a slash, and its name");

const StoredType = Type.Object(
  {
    type: TypeName,
    version: Type.Integer({ minimum: 1, description: "The version of its schema" }),
    key: Type.String({ description: "The property that tells values apart" }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: "The JSON Schema of its values" }),
    count: Type.Integer({ minimum: 0, description: "How many values there are" }),
    characters: Type.Integer({ minimum: 0, description: "How long they are together, characters of JSON" }),
  },
  { description: "A type whose values agents share" },
);

/** The values that agents share by types, as a person may see them. */
export const typeRequests = define({
  "lares/types/list": {
    about:
      "Returns the types that agents have used, by name, with the definition that counts; also those of extensions that are no longer there.",
    errors: {},
    params: Type.Object({}),
    result: Type.Object({ items: Type.Array(StoredType, { description: "The types" }) }),
  },
  "lares/types/values": {
    about:
      "Returns values of a type as they are stored, ordered by key, page by page; all pages are an export.",
    errors: { NotFound: "No agent has used such a type." },
    params: Type.Object({
      type: TypeName,
      cursor: Type.Optional(Named("`cursor` of the page before; default the first page")),
    }),
    result: Type.Object({
      items: Type.Array(
        Type.Object(
          {
            version: Type.Integer({
              minimum: 1,
              description: "The value's version, which each write raises",
            }),
            value: Json("The value"),
          },
          { description: "A value" },
        ),
        { description: "The values" },
      ),
      cursor: Type.Optional(
        Type.String({ description: "Where the next page begins; absent on the last one, which is empty" }),
      ),
    }),
  },
});
