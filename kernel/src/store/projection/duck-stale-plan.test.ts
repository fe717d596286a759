import { expect, test } from "vitest";
import { testDuck } from "./testing/test-duck.ts";

test("a statement that was prepared on an empty table finds rows that were added since", async () => {
  const { file } = await testDuck();
  await file.run("CREATE TABLE things (number BIGINT, word VARCHAR)");
  const counts = async (): Promise<number[]> => [
    (await file.all("SELECT number FROM things WHERE number > 5")).length,
    (await file.all("SELECT number FROM things WHERE word = 'new'")).length,
    (await file.all("SELECT a.number FROM things a JOIN things b ON a.number = b.number + 1")).length,
  ];
  expect(await counts()).toEqual([0, 0, 0]);
  await file.append("things", [[1, "old"]]);
  expect(await counts()).toEqual([0, 0, 0]);
  await file.append("things", [
    [7, "new"],
    [8, "new"],
  ]);
  expect(await counts()).toEqual([2, 2, 1]);
});
