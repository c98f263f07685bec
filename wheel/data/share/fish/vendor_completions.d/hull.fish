function __hull_complete
    set -l words (commandline -opc) (commandline -ct)
    hull completion words -- $words[2..-1] 2>/dev/null
end
complete -c hull -a '(__hull_complete)'
