import { expect, test } from "vitest";
import { ollamaAddress } from "./ollama-address.ts";

test.each([
  [undefined, "http://127.0.0.1:11434"],
  ["", "http://127.0.0.1:11434"],
  ["127.0.0.1:4000", "http://127.0.0.1:4000"],
  ["localhost", "http://localhost:11434"],
  ["http://127.0.0.1:4000/", "http://127.0.0.1:4000"],
  [":4000", "http://127.0.0.1:4000"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:4000", "http://127.0.0.1:4000"],
  ["[::1]:4000", "http://[::1]:4000"],
  ["[::]:4000", "http://127.0.0.1:4000"],
])("OLLAMA_HOST=%s is searched at %s", (given, address) => {
  expect(ollamaAddress(given)).toBe(address);
});

test.each(["gpu.example:4000", "10.0.0.7:4000", "https://ollama.example:4000/v1", "127.0.0.1.example:4000"])(
  "an address of another machine is not searched: %s",
  (given) => {
    expect(ollamaAddress(given)).toBe("http://127.0.0.1:11434");
  },
);
