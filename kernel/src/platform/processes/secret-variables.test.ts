import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { hidingSecrets, withoutSecrets } from "./secret-variables.ts";

const secret = { LARES_SECRET_A: "a", ANTHROPIC_API_KEY: "b", OPENAI_API_KEY: "c", GEMINI_API_KEY: "d" };

test("a program gets the environment without the user's secrets", () => {
  const harmless = { PATH: "/bin", LARES_HOME: "/home", HTTPS_PROXY: "http://proxy.example.com" };
  expect(withoutSecrets({ ...harmless, ...secret })).toEqual(harmless);
});

test("a process that is started meanwhile inherits none of them, and this process keeps them", async () => {
  Object.assign(process.env, secret);
  onTestFinished(() => {
    for (const name of Object.keys(secret)) delete process.env[name];
  });
  const script = "process.stdout.write(JSON.stringify(process.env))";
  const { stdout } = await hidingSecrets(() => promisify(execFile)(process.execPath, ["-e", script]));
  const seen = JSON.parse(stdout) as Record<string, string>;
  expect(seen).toHaveProperty("PATH");
  for (const name of Object.keys(secret)) expect(seen).not.toHaveProperty(name);
  expect(process.env).toMatchObject(secret);
  const failing = (): never => {
    throw new Error("It did not start.");
  };
  expect(() => hidingSecrets(failing)).toThrow("It did not start.");
  expect(process.env).toMatchObject(secret);
});
