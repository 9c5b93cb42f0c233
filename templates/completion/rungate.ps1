# rungate completion for PowerShell: rungate completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName rungate -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @()
    $current = ''
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        $start = $element.Extent.StartOffset
        if ($start -ge $cursorPosition) { break }
        $text = $element.Extent.Text
        if ($element.Extent.EndOffset -ge $cursorPosition) {
            # An open quote is not part of the word.
            $current = $text.Substring(0, $cursorPosition - $start).TrimStart('"', "'")
        } elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $words += $element.Value
        } else {
            $words += $text
        }
    }
    $words += $current
    $joined = $words -join "`n"
    # In Base64, no text reaches cmd, which runs the shim of npm on Windows.
    $bytes = [System.Text.Encoding]::UTF8.GetBytes($joined)
    $encoded = [Convert]::ToBase64String($bytes)
    $program = $commandAst.GetCommandName()
    try {
        $response = @(& $program completion --complete powershell $encoded 2>$null)
    } catch {
        return
    }
    if ($response[0] -notlike 'words*') { return }
    # An empty string prevents the completion of file names.
    if ($response.Length -eq 1) { return '' }
    foreach ($line in $response[1..($response.Length - 1)]) {
        $value, $about = $line -split "`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
