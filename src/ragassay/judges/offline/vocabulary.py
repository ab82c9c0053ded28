"""Words that tell little: what English says everywhere, and the small words of five languages.

There is no corpus behind these lists; they were written by hand, from what any text on any subject
holds. What they decide is only how much a word weighs (`ragassay.judges.offline.words.weight`).
Small words of other languages that English uses for things (German "war", French "main") are left
out, so that a text in English never loses them.
"""

from __future__ import annotations

SMALL = frozenset(
    """
    a an the of to in on at by for with from into onto upon about over under between among through
    during before after above below within without against toward towards across along around per
    via as than then and or but nor so yet if unless until while because since though although
    whether that which who whom whose what when where why how this these those there here it its
    itself he him his himself she her hers herself they them their theirs themselves we us our ours
    ourselves you your yours yourself yourselves i me my mine myself one ones is are was were be
    been being am do does did doing done have has had having will would shall should can could may
    might must ought cannot not no yes n't s t re ve ll d m don isn aren wasn weren doesn didn hasn
    haven hadn won wouldn couldn shouldn too very also just only even still both either neither each
    every all any some such same other others another own more most much many few less least up down
    out off again ever never rather quite else e g i.e e.g etc vs

    der das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind
    waren wird werden wurde wurden haben sein seine ihr ihre ich wir sie für mit von zu zum zur auf
    aus bei nach über unter vor durch als wie wenn dass auch noch nur schon sehr es im am um

    le la les un une des du de et ou mais ne pas est sont était être avoir il elle ils elles nous
    vous je tu ce cette ces cet que qui dont où dans par pour sur avec sans sous aux au se sa ses
    leur leurs plus très aussi

    el los las una unos unas del al y o pero es son era ser estar está están que quien cuyo donde en
    por para sobre entre hasta desde su sus lo se muy más también como

    il lo gli una uno di da dal della dello delle dei degli nel nella che chi cui dove e ed ma non è
    sono era essere con per tra fra su sul sulla anche più molto si
    """.split()
)
"""Words that weigh nothing: articles, pronouns, prepositions, auxiliaries, conjunctions."""

COMMON = frozenset(
    """
    able accept access accord according account accurate achieve across act action active activity
    actual actually add addition additional additionally address adjust advance advantage advice
    affect afford agree ahead aid aim allow allowing almost alone along already alternative always
    amount analysis announce annual answer anyone anything apart appear applicable apply approach
    appropriate approximately area argue arise arrange article ask aspect assess assist assistance
    associate associated assume attempt attend attention attract available average avoid aware away
    back bad balance base based basic basically basis bear become becoming begin beginning behind
    believe beneficial benefit best better beyond big bit both bring broad build building business
    call called carefully carry case catch cause caused center central certain certainly challenge
    challenging chance change character characteristic characterize check choice choose circumstance
    claim clear clearly close closely collect collection combination combine come comfortable common
    commonly compare compared comparison complete completely complex component comprehensive concept
    concern conclude conclusion condition conduct confirm connect connection consequence consequently
    consider considerable considerably consideration considered consist consistent constant contact
    contain content context continue continued contrast contribute contribution control convenient
    correct correctly cost couple course cover create creating critical crucial current currently
    daily data date day deal decade decide decision decrease deep define definition degree deliver
    demand demonstrate depend depending describe described design designed desire despite detail
    detailed determine develop developing development differ difference different difficult
    difficulty direct direction directly discuss discussion display distinct distinguish divide
    document documentation dramatically due early easier easily easy effect effective effectively
    efficient effort elaborate element eliminate emphasis emphasize employ enable encounter encourage
    end engage enhance enjoy enough ensure ensuring enter entire entirely especially essential
    essentially establish established estimate evaluate event eventually everyone everything evidence
    evident exact exactly examine example excellent except exist existence existing expand expect
    expected experience explain explanation explicit explicitly explore express extend extensive
    extent extra extremely face facilitate fact factor fail fairly fall familiar far fast favor
    feature feel field figure final finally find finding first fit five fix flexible flexibility
    focus follow followed following follows force form former forward found four frequent frequently
    full fully function fundamental further furthermore future gain general generally generate get
    give given giving go goal going good great greater greatest greatly ground group grow growing
    growth guide hand handle happen hard harder heavily help helpful helping hence high higher
    highest highlight highly hold hope hour however huge hundred idea ideal identify immediate
    immediately impact implement imply importance important importantly impossible improve improvement
    include included includes including increase increased increasing increasingly indeed independent
    indicate indicated individual influence inform information initial initially inside instance
    instead intend interest interested interesting introduce introduction involve involved involving
    issue item itself join keep key kind know knowledge known lack large largely larger largest last
    late later latter lead leading learn leave left length less let level lie life light like likely
    limit limitation limited line link list little live local long longer look lose loss lot low
    lower main mainly maintain major majority make maker making manage manner mark matter maximum
    mean meaning means measure meet mention mentioned mere merely method middle mind minimal minimize
    minimum minor minute mix modern moment month moreover mostly move multiple name named namely
    natural nature near nearly necessarily necessary need needed negative new next nice nine normal
    normally notable notably note noted nothing notice number numerous object objective observe
    obtain obvious obviously occasion occasionally occur offer offering often old once ongoing open
    operate operation opportunity oppose opposed optimal option order organize original originally
    otherwise outcome outline outside overall overview page part particular particularly party pass
    passage past pattern pay people perform performance perhaps period person personal perspective
    picture piece place plan play please plenty point popular portion position positive positively
    possibility possible possibly potential potentially practical practice precise prefer prepare
    presence present prevent previous previously primarily primary prior problem procedure proceed
    process produce product program progress project proper properly property propose prove provide
    provided providing purpose put quality question quick quickly raise range rare rarely rate reach
    read ready real reality really reason reasonable receive recent recently recognize recommend
    record reduce reduced reducing refer reference reflect regard regarded regarding regardless
    regular regularly relate related relation relationship relative relatively relevant rely remain
    remaining remember remove replace report represent request require required requirement research
    resolve resource respect respectively respond response responsible rest result resulting return
    reveal right rise role rough roughly rule run safe said save say scale seem seen select
    self send sense separate series serious serve service set seven several share short show shown
    shows side sign significance significant significantly similar similarly simple simply single
    situation six size slightly slow small smaller social solution solve someone something sometimes
    somewhat soon sort source space speak special specific specifically specify spend stage stand
    standard start started state stated states stay step stop straightforward strategy strength
    strong strongly structure struggle study subject substantial substantially success successful
    successfully such sudden suffer sufficient suggest suggesting suitable summary support supported
    suppose sure surround system take taken taking talk target task team technique tell ten tend
    term terms text thank thanks therefore thing think third thorough thoroughly thought thousand
    three throughout thus tie time together tool top topic total track traditional treat trend true
    try turn twice two type types typical typically ultimate ultimately understand understanding
    unfortunately unique unit upcoming update use used useful user uses using usual usually valuable
    value variety various vary vast version view visit vital want way week well whatever wherever
    wide widely wider whole widespread willing wish within word work working world worth write
    written wrong year years yield
    """.split()
)
"""English words at home in any subject: they weigh little, since they say little by themselves."""
