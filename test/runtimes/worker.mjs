// In workerd: responds to any request with the results.
import { runWebhook } from './suite.mjs';

export default {
  async fetch() {
    return Response.json({ results: await runWebhook() });
  },
};
