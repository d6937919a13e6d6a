// A host of MCP Apps over the extension's own bridge, for apps.mjs, which bundles it into a page and calls what is exported here.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';

const host = { name: 'reviewsd-conformance', version: '1' };
let client;

window.opened = []; // the addresses that views have asked the host to open

window.connectHost = async (url) => {
  client = new Client(host, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client.getNegotiatedProtocolVersion();
};

// Returns the listed resources and those whose changes the server agrees to send.
window.listen = async () => {
  const uris = (await client.listResources()).resources.map((resource) => resource.uri);
  const subscription = await client.listen({ resourceSubscriptions: uris, toolsListChanged: true });
  await subscription.close();
  return [{ resourceSubscriptions: uris }, subscription.honoredFilter];
};

// Calls a tool and shows its result, or `result` in place of it; returns the result.
window.show = async ({ sandbox, name, input, theme, variables, result }) => {
  const { tools } = await client.listTools();
  const tool = tools.find((each) => each.name === name);
  const { contents: [content] } = await client.readResource({ uri: getToolUiResourceUri(tool) });
  if (content.mimeType !== RESOURCE_MIME_TYPE) throw new Error(content.mimeType);
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  document.body.replaceChildren(frame);
  document.documentElement.style.colorScheme = theme;
  const ready = new Promise((resolve) => {
    addEventListener('message', ({ source, data }) => {
      if (source === frame.contentWindow && data.method === 'ui/notifications/sandbox-proxy-ready') resolve();
    });
  });
  frame.src = sandbox;
  await ready;
  const bridge = new AppBridge(client, host, { openLinks: {}, serverTools: {} }, {
    hostContext: { theme, styles: { variables }, displayMode: 'inline', containerDimensions: { width: innerWidth, maxHeight: 20_000 } },
  });
  bridge.onopenlink = async ({ url }) => { window.opened.push(url); return {}; };
  bridge.onsizechange = ({ height }) => { frame.style.height = `${height}px`; };
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await bridge.sendSandboxResourceReady({ html: content.text, csp: content._meta?.ui?.csp });
  await initialized;
  await bridge.sendToolInput({ arguments: input });
  const shown = result || await client.callTool({ name, arguments: input });
  await bridge.sendToolResult(shown);
  window.teardown = () => bridge.teardownResource({});
  return shown;
};
