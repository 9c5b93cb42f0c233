const response = await fetch(`${process.env.URL}/api/ci/runs/run_1`, {
  headers: { 'x-api-key': 'rg_bench' },
});
const run = await response.json();
process.exitCode = run.failed > 0 || run.blocked > 0 ? 1 : 0;
