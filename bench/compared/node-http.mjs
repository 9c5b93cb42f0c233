import { get } from 'node:http';

get(`${process.env.URL}/api/ci/runs/run_1`, { headers: { 'x-api-key': 'rg_bench' } }, (reply) => {
  let text = '';
  reply.on('data', (chunk) => (text += chunk));
  reply.on('end', () => {
    const run = JSON.parse(text);
    process.exitCode = run.failed > 0 || run.blocked > 0 ? 1 : 0;
  });
});
