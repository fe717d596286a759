/**
 * The environment of a person without keys of providers and without Ollama, whatever the machine has. Nothing listens
 * at the port.
 */
export const noModels = {
  ANTHROPIC_API_KEY: "",
  OPENAI_API_KEY: "",
  GEMINI_API_KEY: "",
  OLLAMA_HOST: "127.0.0.1:1",
} as const;
