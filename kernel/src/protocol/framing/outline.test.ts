import { expect, test } from "vitest";
import { outlineOf } from "./outline.ts";

const outline = (json: string): [unknown, boolean] => {
  const { id, hasMethod } = outlineOf(new TextEncoder().encode(json));
  return [id, hasMethod];
};

test.each<[string, string, unknown, boolean]>([
  ["an answer", '{"jsonrpc":"2.0","id":7,"result":[[1]]}', 7, false],
  ["an answer whose id comes last", '{"result":{"id":1,"method":"x"},"id":"a,}\\"b"}', 'a,}"b', false],
  ["spaces", '{ "id" : 12 , "method" : "x" }', 12, true],
  ["a request", '{"id":"r-1","method":"m","params":{"id":9}}', "r-1", true],
  ["a notification", '{"method":"m","params":{"id":9}}', null, true],
  ["the word as a value", '{"id":3,"x":"method","y":["id"]}', 3, false],
  ["an id that is none", '{"id":null,"result":{"id":1}}', null, false],
  ["an id that is a list", '{"id":[5],"result":1}', null, false],
  ["an id that is no integer", '{"id":1.5,"result":1}', null, false],
  ["an id longer than anyone's", `{"id":"${"x".repeat(200)}","result":1}`, null, false],
  ["a list", '[{"id":1}]', null, false],
  ["a text that stays open", '{"id":1,"resul', 1, false],
  ["what is cut off", '{"id":', null, false],
])("of %s", (_name, json, id, hasMethod) => {
  expect(outline(json)).toEqual([id, hasMethod]);
});
