//! Publications of the methods that a run may use.

/// Article in a journal, which a report cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Citation {
    /// BibTeX key of the article
    pub key: &'static str,
    /// authors in BibTeX notation
    pub authors: &'static str,
    /// title of the article
    pub title: &'static str,
    /// name of the journal
    pub journal: &'static str,
    /// volume of the journal
    pub volume: &'static str,
    /// first page of the article, or its article number
    pub page: &'static str,
    /// year of publication
    pub year: u16,
    /// digital object identifier (DOI), without the address of a resolver
    pub doi: &'static str,
}

impl Citation {
    /// Returns the BibTeX entry of the article.
    pub fn bibtex(&self) -> String {
        let Citation { key, authors, title, journal, volume, page, year, doi } = self;
        format!(
            "@article{{{key},\n  author = {{{authors}}},\n  title = {{{{{title}}}}},\n  journal = {{{journal}}},\n  \
             volume = {{{volume}}},\n  pages = {{{page}}},\n  year = {{{year}}},\n  doi = {{{doi}}}\n}}\n"
        )
    }

    /// Returns the short form of the citation, the family name of the first author and the year: `Bussi et al. 2007`.
    pub fn short(&self) -> String {
        let first = self.authors.split(',').next().unwrap_or(self.authors);
        match self.authors.matches(" and ").count() {
            0 => format!("{first} {}", self.year),
            1 => {
                let second = self.authors.split(" and ").nth(1).and_then(|name| name.split(',').next());
                format!("{first} & {} {}", second.unwrap_or_default(), self.year)
            }
            _ => format!("{first} et al. {}", self.year),
        }
    }
}

macro_rules! citations {
    ($($name:ident: $authors:literal, $title:literal, $journal:literal $volume:literal, $page:literal ($year:literal),
        $doi:literal;)*) => {
        $(
            pub(super) const $name: Citation = Citation {
                key: stringify!($name),
                authors: $authors,
                title: $title,
                journal: $journal,
                volume: $volume,
                page: $page,
                year: $year,
                doi: $doi,
            };
        )*
        /// All publications that a report may cite.
        #[cfg(test)]
        const ALL: &[Citation] = &[$($name),*];
    };
}

citations! {
    ANDERSEN_1980: "Andersen, Hans C.",
        "Molecular dynamics simulations at constant pressure and/or temperature",
        "J. Chem. Phys." "72", "2384" (1980), "10.1063/1.439486";
    AQVIST_2004: "Åqvist, Johan and Wennerström, Petra and Nervall, Martin and Bjelic, Sinisa and Brandsdal, Bjørn O.",
        "Molecular dynamics simulations of water and biomolecules with a Monte Carlo constant pressure algorithm",
        "Chem. Phys. Lett." "384", "288" (2004), "10.1016/j.cplett.2003.12.039";
    BERENDSEN_1984: "Berendsen, H. J. C. and Postma, J. P. M. and van Gunsteren, W. F. and DiNola, A. and Haak, J. R.",
        "Molecular dynamics with coupling to an external bath",
        "J. Chem. Phys." "81", "3684" (1984), "10.1063/1.448118";
    BERNETTI_2020: "Bernetti, Mattia and Bussi, Giovanni",
        "Pressure control using stochastic cell rescaling",
        "J. Chem. Phys." "153", "114107" (2020), "10.1063/5.0020514";
    BUSSI_2007: "Bussi, Giovanni and Donadio, Davide and Parrinello, Michele",
        "Canonical sampling through velocity rescaling",
        "J. Chem. Phys." "126", "014101" (2007), "10.1063/1.2408420";
    CHODERA_2016: "Chodera, John D.",
        "A simple method for automated equilibration detection in molecular simulations",
        "J. Chem. Theory Comput." "12", "1799" (2016), "10.1021/acs.jctc.5b00784";
    CHOW_1995: "Chow, Kim-Hung and Ferguson, David M.",
        "Isothermal-isobaric molecular dynamics simulations with Monte Carlo volume sampling",
        "Comput. Phys. Commun." "91", "283" (1995), "10.1016/0010-4655(95)00059-O";
    DEL_TATTO_2022: "Del Tatto, Vittorio and Raiteri, Paolo and Bernetti, Mattia and Bussi, Giovanni",
        "Molecular dynamics of solids at constant pressure and stress using anisotropic stochastic cell rescaling",
        "Appl. Sci." "12", "1139" (2022), "10.3390/app12031139";
    ESSMANN_1995: "Essmann, Ulrich and Perera, Lalith and Berkowitz, Max L. and Darden, Tom and Lee, Hsing and \
                   Pedersen, Lee G.",
        "A smooth particle mesh Ewald method",
        "J. Chem. Phys." "103", "8577" (1995), "10.1063/1.470117";
    HOPKINS_2015: "Hopkins, Chad W. and Le Grand, Scott and Walker, Ross C. and Roitberg, Adrian E.",
        "Long-time-step molecular dynamics through hydrogen mass repartitioning",
        "J. Chem. Theory Comput." "11", "1864" (2015), "10.1021/ct5010406";
    KRAUTLER_2001: "Kräutler, Vincent and van Gunsteren, Wilfred F. and Hünenberger, Philippe H.",
        "A fast SHAKE algorithm to solve distance constraint equations for small molecules in molecular dynamics \
         simulations",
        "J. Comput. Chem." "22", "501" (2001), "10.1002/1096-987X(20010415)22:5<501::AID-JCC1021>3.0.CO;2-V";
    MARTYNA_1992: "Martyna, Glenn J. and Klein, Michael L. and Tuckerman, Mark",
        "Nosé–Hoover chains: the canonical ensemble via continuous dynamics",
        "J. Chem. Phys." "97", "2635" (1992), "10.1063/1.463940";
    MIYAMOTO_1992: "Miyamoto, Shuichi and Kollman, Peter A.",
        "SETTLE: an analytical version of the SHAKE and RATTLE algorithm for rigid water models",
        "J. Comput. Chem." "13", "952" (1992), "10.1002/jcc.540130805";
    NOCEDAL_1980: "Nocedal, Jorge",
        "Updating quasi-Newton matrices with limited storage",
        "Math. Comput." "35", "773" (1980), "10.1090/S0025-5718-1980-0572855-7";
    OKABE_2001: "Okabe, Tsuneyasu and Kawata, Masaaki and Okamoto, Yuko and Mikami, Masuhiro",
        "Replica-exchange Monte Carlo method for the isobaric–isothermal ensemble",
        "Chem. Phys. Lett." "335", "435" (2001), "10.1016/S0009-2614(01)00055-0";
    RYCKAERT_1977: "Ryckaert, Jean-Paul and Ciccotti, Giovanni and Berendsen, Herman J. C.",
        "Numerical integration of the cartesian equations of motion of a system with constraints: molecular dynamics \
         of n-alkanes",
        "J. Comput. Phys." "23", "327" (1977), "10.1016/0021-9991(77)90098-5";
    STEINBACH_1994: "Steinbach, Peter J. and Brooks, Bernard R.",
        "New spherical-cutoff methods for long-range forces in macromolecular simulation",
        "J. Comput. Chem." "15", "667" (1994), "10.1002/jcc.540150702";
    SUGITA_1999: "Sugita, Yuji and Okamoto, Yuko",
        "Replica-exchange molecular dynamics method for protein folding",
        "Chem. Phys. Lett." "314", "141" (1999), "10.1016/S0009-2614(99)01123-9";
    TIRONI_1995: "Tironi, Ilario G. and Sperb, René and Smith, Paul E. and van Gunsteren, Wilfred F.",
        "A generalized reaction field method for molecular dynamics simulations",
        "J. Chem. Phys." "102", "5451" (1995), "10.1063/1.469273";
    TUCKERMAN_1992: "Tuckerman, M. and Berne, B. J. and Martyna, G. J.",
        "Reversible multiple time scale molecular dynamics",
        "J. Chem. Phys." "97", "1990" (1992), "10.1063/1.463137";
    WANG_2011: "Wang, Lingle and Friesner, Richard A. and Berne, B. J.",
        "Replica exchange with solute scaling: a more efficient version of replica exchange with solute tempering \
         (REST2)",
        "J. Phys. Chem. B" "115", "9431" (2011), "10.1021/jp204407d";
    WENNBERG_2015: "Wennberg, Christian L. and Murtola, Teemu and Páll, Szilárd and Abraham, Mark J. and Hess, Berk \
                    and Lindahl, Erik",
        "Direct-space corrections enable fast and accurate Lorentz–Berthelot combination rule Lennard-Jones lattice \
         summation",
        "J. Chem. Theory Comput." "11", "5737" (2015), "10.1021/acs.jctc.5b00726";
    ZHANG_2019: "Zhang, Zhijun and Liu, Xinzijian and Yan, Kangyu and Tuckerman, Mark E. and Liu, Jian",
        "Unified efficient thermostat scheme for the canonical ensemble with holonomic or isokinetic constraints via \
         molecular dynamics",
        "J. Phys. Chem. A" "123", "6056" (2019), "10.1021/acs.jpca.9b02771";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_complete_and_different() {
        for (index, one) in ALL.iter().enumerate() {
            assert!(one.doi.starts_with("10.") && one.authors.contains(", "), "{one:?}");
            assert!(ALL[..index].iter().all(|other| other.key != one.key && other.doi != one.doi), "{one:?}");
            assert_eq!(one.bibtex().matches('{').count(), one.bibtex().matches('}').count());
        }
        let short = [ANDERSEN_1980, BERNETTI_2020, BUSSI_2007].map(|one| one.short());
        assert_eq!(short, ["Andersen 1980", "Bernetti & Bussi 2020", "Bussi et al. 2007"]);
    }
}
