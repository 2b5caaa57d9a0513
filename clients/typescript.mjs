// What a client written with the TypeScript SDK gets from a server, as one JSON object on stdout.
//
//   node typescript.mjs v1|v2|v2-modern COMMAND [ARGUMENT ...]
//
// The SDK is found below the working directory. Both versions check structured answers against the output schema.

import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const [version, command, ...args] = process.argv.slice(2);
const one = version === "v1";
const { Client } = require(one ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = require(
  one ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio",
);

const modern = version === "v2-modern";
const client = new Client({ name: "typescript", version: "0" }, modern ? { versionNegotiation: { mode: "auto" } } : {});
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));

async function refused(attempt) {
  try {
    await attempt;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

const met = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  answer: await client.callTool({ name: "optimization_check", arguments: { run: "demo" } }),
  refusal: await client.callTool({ name: "list_ops", arguments: { run: "demo", limmit: 1 } }),
  page: await client.readResource({ uri: "ttnn://glossary" }),
  missing: await refused(client.readResource({ uri: "ttnn://glosary" })),
  prompt: await client.getPrompt({ name: "explain_op", arguments: { run: "demo", op: "7" } }),
  completion: await client.complete({
    ref: { type: "ref/resource", uri: "ttnn://hardware/{arch}" },
    argument: { name: "arch", value: "worm" },
  }),
};
if (modern) {
  const { SkillsClient } = require("@modelcontextprotocol/client/ext/skills");
  const skills = new SkillsClient(client);
  const [skill] = (await skills.list()).skills;
  const { verified } = await skills.read(skill, "key-concepts.md");
  met.skill = { name: skill.frontmatter.name, verified };
}
await client.close();
console.log(JSON.stringify(met));
