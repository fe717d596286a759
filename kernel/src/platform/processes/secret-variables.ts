import process from "node:process";
import type { Environment } from "../files/state-folder.ts";

/** Variables with values of the user's secrets, and with keys of providers. Only the kernel and the command line read them. */
const secretVariables = /^(?:LARES_SECRET_.*|(?:ANTHROPIC|OPENAI|GEMINI)_API_KEY)$/;

/** Returns the environment for a program that does not need the user's secrets. */
export function withoutSecrets(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !secretVariables.test(name)));
}

/**
 * Calls a function of a package that starts a process at once, and gives it no way to choose its environment: the process
 * inherits this one's, without the user's secrets.
 */
export function hidingSecrets<Result>(start: () => Result): Result {
  const hidden = Object.entries(process.env).filter(([name]) => secretVariables.test(name));
  for (const [name] of hidden) delete process.env[name];
  try {
    return start();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}
