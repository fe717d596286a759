import { expect, test } from "vitest";
import { mockContext } from "./index.ts";

const schema = {
  type: "object",
  required: ["id", "name"],
  properties: { id: { type: "string" }, name: { type: "string" }, photos: { type: "number" } },
};
interface Person {
  id: string;
  name: string;
  photos?: number;
}
const ada: Person = { id: "ada", name: "Ada", photos: 12 };

test("values of a type are written by version, and found as the kernel finds them", async () => {
  const ctx = mockContext({ types: { Person: { key: "id", schema, values: [ada] } } });
  const people = ctx.types<Person>("Person");
  expect(await people.create({ id: "bob", name: "Bob", photos: 9 })).toEqual({ version: 1 });
  const where = [{ field: "photos", op: "gt", value: 9 }] as const;
  expect(await people.query({ where })).toEqual({ items: [{ version: 1, value: ada }] });
  expect(await people.query({ limit: 1 })).toMatchObject({ cursor: "ada" });
  expect(await people.query({ limit: 1, cursor: "ada" })).not.toHaveProperty("cursor");
  expect(await people.update("ada", 1, { ...ada, photos: 13 })).toEqual({ version: 2 });
  await expect(people.update("ada", 1, ada)).rejects.toMatchObject({
    code: "Conflict",
    facts: { revision: 2 },
  });
  await people.remove("ada", 2);
  expect(await people.get("ada")).toBeNull();
});

test("what a kernel refuses is refused: a value that does not fit, a taken key, another's type, a wrong condition", async () => {
  const ctx = mockContext({
    types: { Person: { key: "id", schema, values: [ada] }, "dev.other/Place": { key: "id" } },
  });
  const people = ctx.types("Person");
  await expect(people.create({ id: "x", name: 1 })).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(people.create(ada)).rejects.toMatchObject({ code: "Conflict" });
  await expect(people.update("ada", 1, { ...ada, id: "eve" })).rejects.toMatchObject({
    code: "InvalidParams",
  });
  await expect(people.query({ where: [{ field: "photos", op: "gt", value: true }] })).rejects.toMatchObject({
    code: "InvalidParams",
  });
  await expect(ctx.types("Place").get("x")).rejects.toMatchObject({ code: "NotFound" });
  await expect(ctx.types("dev.other/Place").get("x")).rejects.toMatchObject({ code: "PermissionDenied" });
  const may = mockContext({
    permissions: { shared_types: { read: ["dev.other/*"] } },
    types: { "dev.other/Place": { key: "id", values: [{ id: "x" }] } },
  });
  expect(await may.types("dev.other/Place").get("x")).toEqual({ version: 1, value: { id: "x" } });
  await expect(may.types("dev.other/Place").create({ id: "y" })).rejects.toMatchObject({
    code: "PermissionDenied",
  });
});
