import { expect, test } from "vitest";
import { IssuedSecrets } from "./issued-secrets.ts";
import { ProviderRequests } from "./provider-requests.ts";

test.each(["key-123456", "key-123456\r", "\tkey-123456\n\n", "\0 key-123456\u00a0\ufeff", " key-123456 "])(
  "%j is sent, and searched for, without what stands around it",
  (given) => {
    const issued = new IssuedSecrets();
    expect(issued.issue("weather", given)).toBe("key-123456");
    issued.issue("weather", "key-123456");
    expect(issued.known).toEqual([{ name: "weather", value: "key-123456" }]);
  },
);

test("a value of blanks only, however long, is trimmed in linear time", () => {
  const begun = process.cpuUsage().user;
  expect(new IssuedSecrets().issue("a", `${" ".repeat(60_000)}x${" ".repeat(60_000)}`)).toBe("x");
  expect(process.cpuUsage(undefined).user - begun).toBeLessThan(1e6);
});

test.each([
  ["sk-abc\r", { key: "sk-abc" }],
  ["sk-ü", { key: "sk-ü" }],
  [
    "sk-\0abc",
    { failure: { class: "NoKey", message: expect.stringMatching(/cannot|can carry.*OPENAI_API_KEY/) } },
  ],
  ["sk-€", { failure: { class: "NoKey", message: expect.not.stringContaining("sk-") as string } }],
])("a key %j of the environment", async (value, expected) => {
  const requests = new ProviderRequests({
    environment: { OPENAI_API_KEY: value },
    issued: new IssuedSecrets(),
  } as never);
  expect(
    await requests.key({ id: "openai", api: "openai", baseUrl: "https://api.openai.com/v1" } as never),
  ).toMatchObject(expected);
});
